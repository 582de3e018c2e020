import { expect, test } from 'vitest';
import { exportUnderFaults } from '../support/random-faults.ts';

const MINUTES = Number(process.env['SOAK_SECONDS'] ?? 3600) / 60;

test(`${MINUTES} minutes of random faults, kills and deadlines: nothing is lost, nothing is wrongly proved`, {
  timeout: (MINUTES + 10) * 60_000,
}, async () => {
  const seed = Date.now() % 2 ** 31;
  process.stderr.write(`seed ${seed}\n`);
  const tally = await exportUnderFaults(MINUTES * 60_000, seed);
  process.stderr.write(`${JSON.stringify(tally)}\n`);
  expect(tally.kills).toBeGreaterThan(0);
  expect(tally.deadlines).toBeGreaterThan(0);
});
