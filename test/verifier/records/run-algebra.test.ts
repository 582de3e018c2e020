import { expect, test } from 'vitest';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { disagreementsIn } from '../../../src/verifier/records/run-algebra.ts';
import { DIGEST, runRecord, runStream } from '../../support/records.ts';

const OTHER = 'e'.repeat(64);
const EARLIER = { export_started_at: '2026-10-31T00:00:00.000Z', requested_at: '2026-10-31T00:00:00.000Z' };
const STARTED = '2026-11-01T00:00:00.000Z';

/** Returns a run that received a stream of 20 entries in this attempt, or in an earlier one. */
function runWith(isEarlier: boolean): RunRecord {
  const head = { sequence: 20, hash: DIGEST };
  const service = { entries: 20, head, listed: 20, verified: true, failed_sequences: [] };
  const collected = isEarlier
    ? { ...EARLIER, received_at: '2026-10-31T00:01:00.000Z' }
    : { export_started_at: STARTED, requested_at: STARTED, received_at: '2026-11-01T00:00:30.000Z' };
  return JSON.parse(
    JSON.stringify(runRecord('r', [runStream('s', { head, service, collected })], { started_at: STARTED })),
  );
}

type ListedRow = RunRecord['stream_list']['streams'] extends Iterable<infer Row> ? Row : never;
type Change = (record: RunRecord, listed: ListedRow) => void;
type Kinds = [now: string[], earlier: string[]];

test.each<[words: string, change: Change, kinds: Kinds]>([
  ['as it was', () => {}, [[], []]],
  [
    'more entries',
    (_run, s) => Object.assign(s, { entries: 999, head: { sequence: 999, hash: OTHER } }),
    [['impossible'], ['grown']],
  ],
  [
    'fewer entries',
    (_run, s) => {
      s.entries = 19;
    },
    [['impossible'], ['contradicts']],
  ],
  [
    'a lower head',
    (_run, s) => {
      s.head.sequence = 19;
    },
    [['impossible'], ['contradicts']],
  ],
  [
    'another head',
    (_run, s) => {
      s.head.hash = OTHER;
    },
    [['impossible'], ['contradicts']],
  ],
  [
    'a list that lacks it',
    (run) => {
      run.stream_list = { pages: [], streams: [] };
    },
    [['impossible'], ['impossible']],
  ],
  [
    'pages with more',
    (run) => {
      Object.assign(run.stream_list.pages[0] ?? {}, { streams: 99 });
    },
    [['impossible'], ['impossible']],
  ],
  [
    'excluded beside its bundle',
    (run) => {
      run.excluded = [{ stream_id: 's', pattern: 'x' }];
    },
    [['impossible'], ['impossible']],
  ],
  [
    'a failure that was not listed',
    (run) => {
      run.failed = [{ stream_id: 'f', code: 'service', reason: 'x', next_step: 'y' }];
    },
    [['impossible'], ['impossible']],
  ],
])('a run record with %s', (_words, change, kinds) => {
  const found = [false, true].map((isEarlier) => {
    const record = runWith(isEarlier);
    const [listed] = record.stream_list.streams;
    change(record, listed ?? expect.unreachable('it is listed'));
    return disagreementsIn(record).map(({ kind }) => kind);
  });
  expect(found).toEqual(kinds);
});

test('a stream that was received after the list was read may have more than the list', () => {
  const record = runWith(true);
  for (const stream of record.streams) stream.collected.received_at = '2026-11-01T00:00:30.000Z';
  for (const stream of record.stream_list.streams) stream.head.sequence = 19;
  expect(disagreementsIn(record)).toEqual([]);
});
