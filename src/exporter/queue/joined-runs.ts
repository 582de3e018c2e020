import type { JoinedRun } from '../export/handed-out.ts';

interface Held {
  run: Promise<JoinedRun>;
  users: number;
}

/** Runs that a worker has joined, each once. Joining another run leaves the unused ones. */
export class JoinedRuns {
  readonly #held = new Map<string, Held>();

  /**
   * Runs work in a run, and joins the run first if necessary.
   * @param name of the attempt. @param join called if the run is not joined yet.
   */
  async use<T>(name: string, join: () => Promise<JoinedRun>, work: (run: JoinedRun) => Promise<T>): Promise<T> {
    let held = this.#held.get(name);
    if (held === undefined) {
      await this.#leaveUnused();
      held = { run: join(), users: 0 };
      this.#held.set(name, held);
    }
    held.users += 1;
    try {
      return await work(await held.run);
    } catch (error) {
      // Forgets a failed join, so that the next stream tries again.
      await held.run.catch(() => this.#held.delete(name));
      throw error;
    } finally {
      held.users -= 1;
    }
  }

  async close(): Promise<void> {
    const all = [...this.#held.values()];
    this.#held.clear();
    for (const { run } of all) await run.then((joined) => joined.close()).catch(() => {});
  }

  async #leaveUnused(): Promise<void> {
    for (const [name, { run, users }] of this.#held) {
      if (users > 0) continue;
      this.#held.delete(name);
      await run.then((joined) => joined.close()).catch(() => {});
    }
  }
}
