import { setTimeout as sleep } from 'node:timers/promises';

/** The longest delay of a timer of Node, 24 days. A longer one elapses at once, so a loop around it would never rest. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits. Rejects with the signal's own reason when the signal is aborted.
 * @throws RangeError for a delay that no timer has.
 */
export async function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (!(milliseconds >= 0 && milliseconds <= LONGEST_MS)) throw new RangeError(`cannot wait ${milliseconds} ms`);
  try {
    await sleep(Math.ceil(milliseconds), undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
