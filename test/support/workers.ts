import type { ChildProcess } from 'node:child_process';
import { EVIDENCE, type Finished, finish, startNode } from './process.ts';

/** A worker in a separate process. */
export interface RunningWorker {
  process: ChildProcess;
  ended: Promise<Finished>;
}

/** Workers of a test; `close` kills those still running. */
export class Workers {
  readonly #options: { cwd: string; env: Record<string, string> };
  readonly running = new Set<RunningWorker>();
  /** Output of all ended workers. */
  readonly said: string[] = [];

  constructor(options: { cwd: string; env: Record<string, string> }) {
    this.#options = options;
  }

  /** @param through command line of another program that starts the worker, such as on another machine. */
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
