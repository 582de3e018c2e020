import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { packageFile } from '../../../core/install-paths.ts';
import type { Operator } from '../../../verifier/records/record.ts';

/** Name and version of this program, as records and the User-Agent state them. */
export function readTool(): { name: string; version: string } {
  const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return { name: manifest.name, version: manifest.version };
}

/**
 * The commit of the checkout that this program runs from, with "-dirty" behind it where files differ; null for an
 * installed package.
 */
export function readCommit(): string | null {
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

/** Who runs it. */
export function readOperator(): Operator {
  try {
    return { user: userInfo().username, host: hostname() };
  } catch {
    // A container may run under a user id without a name.
    return { user: `uid ${process.getuid?.() ?? 'unknown'}`, host: hostname() };
  }
}
