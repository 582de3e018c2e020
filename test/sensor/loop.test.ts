import { expect, test } from 'vitest';
import { type ErrorCode, EvidenceError } from '../../src/core/errors.ts';
import type { RoundResult } from '../../src/sensor/round.ts';
import { runLoop } from '../../src/sensor/run.ts';

class Over extends Error {}

const told = (scanIntervalSeconds: number) => ({ settings: { scanIntervalSeconds } }) as RoundResult;
const failed = (code: ErrorCode) => new EvidenceError(code, code);

/** Returns the waits between rounds that take four seconds each. */
async function waitsOf(rounds: (RoundResult | Error)[], random = 0.5): Promise<number[]> {
  const waits: number[] = [];
  let time = 0;
  const left = [...rounds];
  const loop = runLoop({
    async round() {
      time += 4000;
      const outcome = left.shift() ?? new Over();
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    tell: () => undefined,
    complain: () => undefined,
    async wait(milliseconds) {
      waits.push(milliseconds / 1000);
      time += milliseconds;
    },
    random: () => random,
    now: () => time,
  });
  await expect(loop).rejects.toThrow(Over);
  return waits;
}

test.each<[string, (RoundResult | Error)[], number[]]>([
  ['as often as the service says, from beginning to beginning', [told(3600), told(60)], [3596, 56]],
  ['not more often than makes sense, nor hardly ever', [told(0), told(10 ** 9)], [6, 604_796]],
  ['within five minutes after one that did not arrive', [failed('unreachable'), told(3600)], [296, 3596]],
  ['sooner where the service wants it sooner', [told(60), failed('service')], [56, 56]],
  ['on though a person has to do something', [failed('chain'), failed('refused'), failed('output')], [296, 296, 296]],
])('rounds come %s', async (_name, rounds, waits) => {
  expect(await waitsOf(rounds)).toEqual(waits);
});

test('rounds of machines that were started together come apart', async () => {
  const hour = [told(3600)];
  expect([await waitsOf(hour, 0), await waitsOf(hour, 1)]).toEqual([[3236], [3956]]);
});

test.each(['config', 'unreadable'] as const)('what is to be mended on this machine ends them: %s', async (code) => {
  const error = failed(code);
  const loop = runLoop({
    round: () => Promise.reject(error),
    tell: () => undefined,
    complain: () => undefined,
    wait: () => Promise.reject(new Over()),
    random: () => 0,
    now: () => 0,
  });
  await expect(loop).rejects.toBe(error);
});
