import { spawn } from 'node:child_process';
import { type Finished, finish } from './process.ts';
import type { Program, Request } from './starter.ts';

/** To be forked: runs programs to their end for the process that forked it, and ends with it. */
process.on('message', async ({ id, ...program }: Request) => {
  const answer = await ended(program).then(
    (finished) => ({ finished }),
    (error: unknown) => ({ error }),
  );
  process.send?.({ id, ...answer });
});
process.on('disconnect', () => process.exit());

/** Listened to at once: that a program is not to be had is said before anything else is done. */
async function ended({ program, args, cwd, env }: Program): Promise<Finished> {
  return finish(spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}
