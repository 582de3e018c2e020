import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { packageFile } from '../../../core/install-paths.ts';

let known: string | null | undefined;

/**
 * The commit of the checkout that this program runs from, with "-dirty" after it where files differ; null for an
 * installed package. Looked up once: what runs is what was loaded then.
 */
export function readCommit(): string | null {
  if (known === undefined) known = findCommit();
  return known;
}

function findCommit(): string | null {
  const root = packageFile('.');
  if (!existsSync(packageFile('.git'))) return null;
  try {
    return execFileSync('git', ['-C', root, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
