interface Shared<T> {
  outcome: Promise<T>;
  waiting: number;
  abandon: AbortController;
}

/**
 * Work that is done once for all callers that request it while it runs, and is aborted when no caller waits any longer.
 */
export class SharedWork<T> {
  readonly #running = new Map<string, Shared<T>>();

  /**
   * @param key of the work; the same key means the same work.
   * @param signal aborts when this caller stops waiting.
   * @param work starts the work if it is not running.
   * @throws the error of `work`; the reason of `signal`.
   */
  async join(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const shared = this.#running.get(key) ?? this.#begin(key, work);
    shared.waiting++;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = () => {
      if (--shared.waiting === 0) {
        // Later callers start the work again.
        this.#forget(key, shared);
        shared.abandon.abort();
      }
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave);
    try {
      return await Promise.race([shared.outcome, left]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): Shared<T> {
    const abandon = new AbortController();
    const shared = { outcome: work(abandon.signal), waiting: 0, abandon };
    this.#running.set(key, shared);
    const forget = () => this.#forget(key, shared);
    shared.outcome.then(forget, forget);
    return shared;
  }

  #forget(key: string, shared: Shared<T>): void {
    if (this.#running.get(key) === shared) this.#running.delete(key);
  }
}
