import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { DisturbedExport, newPlace } from '../support/disturbed-export.ts';
import { finish } from '../support/process.ts';

const KILLS = 50;

let disturbed: DisturbedExport;

beforeAll(async () => {
  disturbed = await DisturbedExport.begin(6);
});
afterAll(() => disturbed.platform.stop());

test(`killed at ${KILLS} random moments and started again, an export ends as if nothing had happened`, async () => {
  let killed = 0;
  // The machine may be faster now than it was then: a run that ends before its moment shortens what is left to choose.
  let longest = disturbed.undisturbed.milliseconds;
  while (killed < KILLS) {
    const place = newPlace();
    const moment = Math.round(Math.random() * longest);
    const began = performance.now();
    const child = disturbed.start(place);
    const finished = finish(child);
    await Promise.race([sleep(moment), finished]);
    child.kill('SIGKILL');
    if ((await finished).signal !== 'SIGKILL') {
      longest = Math.min(longest, performance.now() - began);
      continue;
    }
    killed++;
    await disturbed.expectToEndWell(place, `killed after ${moment} ms`);
  }
}, 1_000_000);
