import { expect, test } from 'vitest';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { checkHidden } from '../../../src/verifier/verify/run-sums.ts';
import type { VerifiedStream } from '../../../src/verifier/verify/stream.ts';
import { runRecord } from '../../support/records.ts';

/** Returns a bundle whose package contains other streams too. */
const holding = (...others: string[]) => [{ others }] as unknown as VerifiedStream[];
const listing = (...ids: string[]): RunRecord['stream_list'] => ({
  pages: [],
  streams: ids.map((stream_id) => ({ stream_id, entries: null, head: { sequence: null, hash: null } })),
});

test.each<[string, Partial<RunRecord>, number]>([
  ['is not listed', { stream_list: listing() }, 1],
  ['is listed', { stream_list: listing('hidden') }, 0],
  ['is not in scope', { stream_list: listing(), scope: { ...runRecord('r', []).scope, exclude: ['hid*'] } }, 0],
])('a stream in a package of the account that %s', (_words, change, found) => {
  const record = { ...runRecord('r', []), ...change };
  expect(checkHidden(record, holding('hidden'), 'run.json')).toHaveLength(found);
});
