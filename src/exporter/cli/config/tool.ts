import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { packageFile, readManifest } from '../../../core/install-paths.ts';
import { lazy } from '../../../core/lazy.ts';
import type { Operator } from '../../../verifier/claims/schemas.ts';

/** Returns name and version of this program, as stated in records and the User-Agent. */
export function readTool(): { name: string; version: string } {
  return readManifest();
}

/** Returns the user who runs the program, and its host. */
export function readOperator(): Operator {
  try {
    return { user: userInfo().username, host: hostname() };
  } catch {
    // A container may run under a user id without a name.
    return { user: `uid ${process.getuid?.() ?? 'unknown'}`, host: hostname() };
  }
}

/**
 * Returns the commit of the checkout that this program runs from, with "-dirty" appended if files differ; null for an
 * installed package. Looked up once, because the running code is what was loaded at the start.
 */
export const readCommit = lazy(findCommit);

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
