import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Finished } from './process.ts';

export interface Program {
  program: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export interface Request extends Program {
  id: number;
}

type Answer = { id: number } & ({ finished: Finished } | { error: Error });

let starter: ChildProcess | null = null;
let last = 0;
const waiting = new Map<number, PromiseWithResolvers<Finished>>();

/**
 * Runs a program to its end from a small process. Starting a program copies the parent's memory map, which in a process
 * with hundreds of tests takes longer than many programs run.
 * @throws Error of the system if the program cannot start.
 */
export function throughStarter(program: Program): Promise<Finished> {
  starter ??= forkStarter();
  const id = ++last;
  const ended = Promise.withResolvers<Finished>();
  waiting.set(id, ended);
  starter.channel?.ref();
  starter.send({ id, ...program } satisfies Request);
  return ended.promise;
}

function forkStarter(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'starter-program.ts'), { execArgv: [], serialization: 'advanced' });
  child.on('message', ({ id, ...answer }: Answer) => {
    const ended = waiting.get(id);
    waiting.delete(id);
    // An idle starter must not keep the process alive.
    if (waiting.size === 0) child.channel?.unref();
    if ('finished' in answer) ended?.resolve(answer.finished);
    else ended?.reject(answer.error);
  });
  child.on('disconnect', () => {
    starter = null;
    for (const { reject } of waiting.values()) reject(new Error('what starts programs for tests has ended'));
    waiting.clear();
  });
  child.unref();
  return child;
}
