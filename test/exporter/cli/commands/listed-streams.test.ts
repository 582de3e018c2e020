import { expect, test } from 'vitest';
import { formatStreams } from '../../../../src/exporter/cli/commands/streams.ts';
import type { StreamAnswer } from '../../../../src/verifier/profile/answers.ts';
import { DIGEST } from '../../../support/records.ts';

const stream: StreamAnswer = {
  streamId: 'prod/payments-of-the-north',
  entryCount: 1234567,
  headSequence: 1234567,
  headDigest: DIGEST,
  verified: false,
  neverChecked: false,
  lastCheckedAt: '2026-11-22T18:14:05.334Z',
  drift: null,
};
const heads = new Map([[stream.streamId, { run_id: '2026-11-01_now-2026-11-22', sequence: 1234560, hash: DIGEST }]]);
const widest = (table: string) => Math.max(...table.split('\n').map((line) => line.length));

test.each([120, 80])('the streams fit into %d columns, and times and counts are whole', (columns) => {
  const table = formatStreams([stream], heads, columns);
  expect(widest(table)).toBeLessThanOrEqual(columns);
  expect(table).toMatch(/ 1,234,567 .* 2026-11-22 18:14Z +1234567/);
});

test('where there is room they are whole, with the digest of the head', () => {
  expect(formatStreams([stream], heads, 200)).toMatch(
    /checked, not verified {2}2026-11-22 18:14Z {2}1234567:[0-9a-f]{12}… {2}1234560, by 2026-11-01_now-2026-11-22$/,
  );
});
