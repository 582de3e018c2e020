import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Makes a key pair with Debian's age: a file with the identity, and its recipient. */
export function ageKey(folder: string, name: string): { file: string; recipient: string } {
  const file = join(folder, `${name}.age-key`);
  execFileSync('age-keygen', ['-o', file], { stdio: 'ignore' });
  return { file, recipient: execFileSync('age-keygen', ['-y', file], { encoding: 'utf8' }).trim() };
}
