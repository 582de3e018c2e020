import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { finish } from '../support/process.ts';

/**
 * Kills as many programs as are asked for, each at a random moment of its work.
 * @param milliseconds that the work takes undisturbed.
 * @param start a new program in a new place.
 * @param after what is to hold of the place; `words` say when it was killed.
 */
export async function killAtRandom<Place>(
  kills: number,
  milliseconds: number,
  start: () => Promise<{ place: Place; child: ChildProcess }>,
  after: (place: Place, words: string) => Promise<void>,
): Promise<void> {
  // The machine may be faster now than it was then: a run that ends before its moment shortens what is left to choose.
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
