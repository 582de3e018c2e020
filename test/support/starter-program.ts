import { spawn } from 'node:child_process';
import { type Finished, finish } from './process.ts';
import type { Program, Request } from './starter.ts';

/** Forked program that runs programs to their end for its parent, and ends with it. */
process.on('message', async ({ id, ...program }: Request) => {
  const answer = await ended(program).then(
    (finished) => ({ finished }),
    (error: unknown) => ({ error }),
  );
  process.send?.({ id, ...answer });
});
process.on('disconnect', () => process.exit());

/** Listens at once, so that a missing program is reported before anything else. */
async function ended({ program, args, cwd, env }: Program): Promise<Finished> {
  return finish(spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}
