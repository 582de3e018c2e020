/**
 * Runs `work` on each item, at most `limit` at a time. The first error stops the rest and is thrown after all started
 * work has ended. (p-map does not wait for that: a caller would close an archive that is still being written.)
 */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failed = false;
  const worker = async () => {
    for (let next = queue.next(); next.done !== true && !failed; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const results = await Promise.allSettled(Array.from({ length: limit }, worker));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Limits the number of concurrent tasks. Others wait in first-in, first-out order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      // Pass the slot directly to the next task, so that no other caller can take it first.
      else next();
    }
  }
}
