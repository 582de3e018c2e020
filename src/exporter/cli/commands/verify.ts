import { resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { RangeThreads } from '../../../verifier/verify/range-threads.ts';
import type { CommandContext } from '../command.ts';
import type { VerifyFlags } from './verify-flags.ts';

/**
 * Verifies archived evidence by the reader's inputs only, ignoring what the target says about itself. The threads that
 * read a package take as long to start as all other code takes to load, so they are started first.
 */
export async function runVerify(flags: VerifyFlags, context: CommandContext): Promise<number> {
  const asked = checkThreads(flags.threads ?? null);
  const file = onlyPackage(flags, context);
  await using threads = file === null ? null : RangeThreads.for(file, asked);
  const threadsFor = (path: string) => (path === file && threads !== null ? threads : RangeThreads.for(path, asked));
  const { verifyTargets } = await import('./verify-targets.ts');
  return await verifyTargets(flags, context, threadsFor);
}

function checkThreads(threads: number | null): number | null {
  if (threads === null || (Number.isInteger(threads) && threads >= 1 && threads <= 64)) return threads;
  throw new EvidenceError('usage', '--threads must be a whole number from 1 to 64');
}

/** Returns the path of the only target if its name may be that of a package; null otherwise. */
function onlyPackage({ targets = [] }: VerifyFlags, { directory }: CommandContext): string | null {
  const [target, ...others] = targets;
  if (target === undefined || others.length > 0 || /\.(zip|age)$/i.test(target)) return null;
  return resolve(directory, target);
}
