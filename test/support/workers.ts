import type { ChildProcess } from 'node:child_process';
import { EVIDENCE, type Finished, finish, startNode } from './process.ts';

/** A worker, as a process of its own. */
export interface RunningWorker {
  process: ChildProcess;
  ended: Promise<Finished>;
}

/** Workers of a test. What still runs is killed by `close`. */
export class Workers {
  readonly #options: { cwd: string; env: Record<string, string> };
  readonly running = new Set<RunningWorker>();
  /** Output of all workers that have ended. */
  readonly said: string[] = [];

  constructor(options: { cwd: string; env: Record<string, string> }) {
    this.#options = options;
  }

  /** @param through words of a command line that begins with another program, e.g. one that carries it out elsewhere. */
  start(words: readonly string[] = [], through: readonly string[] = []): RunningWorker {
    const child = startNode(EVIDENCE, ['worker', ...words], { ...this.#options, through });
    const worker: RunningWorker = { process: child, ended: finish(child) };
    this.running.add(worker);
    void worker.ended.then(({ stderr }) => {
      this.running.delete(worker);
      this.said.push(stderr);
    });
    return worker;
  }

  async close(): Promise<void> {
    const ended = [...this.running].map((worker) => worker.ended);
    for (const { process: child } of this.running) child.kill('SIGKILL');
    await Promise.all(ended);
  }
}
