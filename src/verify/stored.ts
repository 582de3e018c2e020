import type { Archive } from '../archive/archive.ts';
import { type Problem, toProblem } from './problem.ts';

/** Whether an object that is recorded is there. */
export async function isThere(archive: Archive, key: string, problems: Problem[]): Promise<boolean> {
  if ((await archive.stat(key)) !== null) return true;
  problems.push(toProblem('object/missing', key, 'is recorded, but it is not there'));
  return false;
}

/** Whether the object has the length and digest that a record states. */
export function checkDigest(
  stored: { key: string; bytes: number; sha256: string },
  actual: { bytes: number; sha256: string },
  problems: Problem[],
): void {
  if (actual.sha256 === stored.sha256) return;
  problems.push(
    toProblem(
      'object/altered',
      stored.key,
      `its SHA-256 is not the recorded one (${actual.bytes} bytes, ${stored.bytes} recorded)`,
      { expected: stored.sha256, actual: actual.sha256 },
    ),
  );
}
