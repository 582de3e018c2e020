import { expect, test } from 'vitest';
import { exportUnderFaults } from '../support/random-faults.ts';

/** One export; `npm run test:soak` runs exports for an hour. */
const MILLISECONDS = 1;

test('under random faults, kills and deadlines nothing is lost and nothing is wrongly proved', async () => {
  const tally = await exportUnderFaults(MILLISECONDS, 20_261_126);
  expect(tally.exports).toBeGreaterThan(0);
  expect(tally.faults).toBeGreaterThan(2);
});
