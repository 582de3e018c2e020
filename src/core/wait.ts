import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Maximum delay of a Node timer, 24 days. A longer delay elapses at once, so that a loop around it would never rest.
 */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits. Rejects with the signal's reason if the signal is aborted.
 * @throws RangeError for a delay that no timer supports.
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
