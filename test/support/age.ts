import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** A pair of keys as Debian's age makes them: the file of the identity, and the recipient that belongs to it. */
export function ageKey(folder: string, name: string): { file: string; recipient: string } {
  const file = join(folder, `${name}.age-key`);
  execFileSync('age-keygen', ['-o', file], { stdio: 'ignore' });
  return { file, recipient: execFileSync('age-keygen', ['-y', file], { encoding: 'utf8' }).trim() };
}
