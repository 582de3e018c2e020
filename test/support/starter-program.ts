import { spawn } from 'node:child_process';
import { finish } from './process.ts';
import type { Request } from './starter.ts';

/** To be forked: runs programs to their end for the process that forked it, and ends with it. */
process.on('message', async ({ id, program, args, cwd, env }: Request) => {
  const started = async () => spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const answer = await started()
    .then(finish)
    .then(
      (finished) => ({ finished }),
      (error: unknown) => ({ error }),
    );
  process.send?.({ id, ...answer });
});
process.on('disconnect', () => process.exit());
