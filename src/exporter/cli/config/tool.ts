import { hostname, userInfo } from 'node:os';
import { readManifest } from '../../../core/install-paths.ts';
import type { Operator } from '../../../verifier/claims/stated-schema.ts';

/** Name and version of this program, as records and the User-Agent state them. */
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
