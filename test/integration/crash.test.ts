import { afterAll, beforeAll, expect, test } from 'vitest';
import { DisturbedExport, newPlace } from '../support/disturbed-export.ts';
import { finish } from '../support/process.ts';

let disturbed: DisturbedExport;

beforeAll(async () => {
  disturbed = await DisturbedExport.begin(3);
});
afterAll(() => disturbed.platform.stop());

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends an export within 5 s with %i and says how to go on', async (signal, exitCode) => {
  const place = newPlace();
  const child = disturbed.start(place);
  const finished = finish(child);
  await new Promise<void>((begun) =>
    child.stderr?.on('data', (text: string) => /streams to export/.test(text) && begun()),
  );
  const began = performance.now();
  child.kill(signal);
  const { code, stderr } = await finished;
  expect([code, stderr]).toEqual([
    exitCode,
    expect.stringMatching(/interrupted; archived bundles are kept\nRun the same command again to resume/),
  ]);
  expect(performance.now() - began).toBeLessThan(5500);
  await disturbed.expectToEndWell(place);
});
