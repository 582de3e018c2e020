import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { finish } from '../support/process.ts';

/**
 * Kills this many programs, each at a random moment of its work.
 * @param milliseconds that the undisturbed work takes.
 * @param start starts a program in a new place.
 * @param after checks the place; `words` describe the moment of the kill.
 */
export async function killAtRandom<Place>(
  kills: number,
  milliseconds: number,
  start: () => Promise<{ place: Place; child: ChildProcess }>,
  after: (place: Place, words: string) => Promise<void>,
): Promise<void> {
  // The machine may be faster now; a run that ends early lowers the range of moments.
  let longest = milliseconds;
  for (let killed = 0; killed < kills; ) {
    const moment = Math.round(Math.random() * longest);
    const { place, child } = await start();
    const began = performance.now();
    const finished = finish(child);
    await Promise.race([sleep(moment), finished]);
    child.kill('SIGKILL');
    if ((await finished).signal !== 'SIGKILL') {
      longest = Math.min(longest, performance.now() - began);
      continue;
    }
    killed++;
    await after(place, `killed after ${moment} ms`);
  }
}
