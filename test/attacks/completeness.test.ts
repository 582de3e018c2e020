import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CompletenessBasis } from '../../src/verifier/claims/completeness.ts';
import type { RecordedStatement } from '../../src/verifier/claims/statement.ts';
import {
  chainOf,
  entryAfter,
  examineReading,
  NO_STATEMENT,
  packageOf,
  readPackage,
  type SentEntry,
  STREAM,
} from '../support/chain.ts';
import { type FalseService, startFalseService, type Told } from '../support/false-service.ts';

let service: FalseService;
beforeEach(async () => {
  service = await startFalseService();
});
afterEach(() => service.close());

const MINUTE = 60_000;

/** Returns thirty entries, a minute apart, the last of them five minutes old. */
function recent(): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let left = 30; left > 0; left--) {
    const timestamp = new Date(Date.now() - (left + 4) * MINUTE).toISOString();
    entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: 's', timestamp }));
  }
  return entries;
}

/** Adds an entry recorded at this offset from now. */
const oneMore = (entries: SentEntry[], milliseconds: number) => [
  ...entries,
  entryAfter(entries.at(-1) ?? null, { timestamp: new Date(Date.now() + milliseconds).toISOString() }),
];

const cut = (entries: SentEntry[]) => entries.slice(0, 12);
const BACKDATED = { generated_at: '2020-01-01T00:00:00.000Z' };

const TABLE: [string, Partial<Told>, number, string][] = [
  ['all there is', {}, 0, 'proved'],
  ['a package cut off, dated back by itself', { packaged: cut, package: BACKDATED }, 1, 'refuted'],
  [
    'the same, and no head is stated',
    { packaged: cut, package: BACKDATED, stated: { head_sequence: null } },
    1,
    'refuted',
  ],
  [
    'the same, and the answer is dated back too',
    {
      packaged: cut,
      package: BACKDATED,
      date: new Date('2020-01-01'),
      stated: { head_sequence: null, entry_count: 12 },
    },
    0,
    'unproved',
  ],
  ['package and listing cut off alike, after the stated head', { packaged: cut, listed: cut }, 1, 'refuted'],
  [
    'package and listing cut off alike, after a count alone',
    { packaged: cut, listed: cut, stated: { head_sequence: null } },
    1,
    'refuted',
  ],
  [
    'entries kept back, dated in a far future',
    {
      packaged: cut,
      listed: (all) => [
        ...cut(all),
        ...all.slice(12).map((entry) => ({ ...entry, timestamp: '2099-01-01T00:00:00.000Z' })),
      ],
      stated: { head_sequence: null, entry_count: 12 },
    },
    0,
    'unproved',
  ],
  ['no entry at all, after the stated head', { packaged: () => [], listed: () => [] }, 1, 'refuted'],
  [
    'an entry listed first that was recorded later, and hides those after it',
    { packaged: cut, listed: (all) => [...cut(all), ...oneMore(all, MINUTE).slice(-1), ...all.slice(12)] },
    1,
    'refuted',
  ],
  ['an entry recorded since', { listed: (all) => oneMore(all, MINUTE) }, 0, 'proved'],
  [
    'an entry recorded since, by a clock ten minutes behind ours',
    { listed: (all) => oneMore(all, -5 * MINUTE), date: new Date(Date.now() - 10 * MINUTE) },
    0,
    'unproved',
  ],
  [
    'an entry kept back, by a clock ten minutes ahead of ours',
    { listed: (all) => oneMore(all, 5 * MINUTE), date: new Date(Date.now() + 10 * MINUTE) },
    1,
    'refuted',
  ],
];

test.each(TABLE)('%s', async (_words, told, code, state) => {
  const entries = recent();
  service.streams.set('s', { entries, ...told });
  const printed = await service.export({ request: 'r1', 'all-time': true });
  expect([printed.code, printed.document.streams[0].claims.completeness.state]).toEqual([code, state]);
});

test('a closed period cut off alike in package and listing: what lies after is the service’s word', async () => {
  const cutOff = (all: SentEntry[]) => all.slice(0, 12);
  service.streams.set('s', { entries: chainOf(20, { stream_id: 's' }), packaged: cutOff, listed: cutOff });
  const { document } = await service.export({ period: '2026-10' });
  expect(document.streams[0].claims.completeness.basis).toContain('that entries 13 to 20 are of a later time');
});

const COUNTS: [string, Partial<Told>, number, string][] = [
  ['as many as there are', { made: { entry_count: 30 } }, 0, 'proved'],
  ['more', { made: { entry_count: 31 } }, 1, 'refuted'],
  [
    'fewer, while it is being made',
    { made: { entry_count: 3, status: 'pending' }, ready: { entry_count: 30 } },
    0,
    'proved',
  ],
  ['more, once it was made', { made: { status: 'pending' }, ready: { entry_count: 31 } }, 1, 'refuted'],
  ['nothing', {}, 0, 'proved'],
];
test.each(COUNTS)('the answer by which a package is ready counts %s', async (_words, told, code, state) => {
  service.streams.set('s', { entries: recent(), ...told });
  const printed = await service.export({ request: 'r1', 'all-time': true });
  expect([printed.code, printed.document.streams[0].claims.agreement.state]).toEqual([code, state]);
  expect((await service.verify()).code).toBe(code);
});

test('a closed period cut off, dated back by itself', async () => {
  const entries = chainOf(20, { stream_id: 's' });
  service.streams.set('s', { entries, packaged: (all) => all.slice(0, 5), package: BACKDATED });
  const printed = await service.export({ period: '2026-10' });
  expect([printed.code, printed.document.streams[0].claims.completeness.state]).toEqual([1, 'refuted']);
});

describe('what was recorded of a listing must fit the package', () => {
  const listing = (more: object): CompletenessBasis => ({
    kind: 'listing',
    lines: 20,
    listed: 20,
    same: 20,
    differences: 0,
    deviations: [],
    undecided: 0,
    ...more,
  });
  const ROWS: [string, CompletenessBasis, Partial<RecordedStatement>, string][] = [
    ['all entries', listing({}), { headSequence: 20 }, 'proved'],
    ['no entry', listing({ same: 0 }), { headSequence: 20 }, 'refuted'],
    ['some entries', listing({ same: 5 }), { headSequence: 20 }, 'refuted'],
    ['more entries', listing({ same: 21 }), { headSequence: 20 }, 'refuted'],
    [
      'a difference that is not counted',
      listing({ deviations: [{ sequence: 3, message: 'm' }] }),
      { headSequence: 20 },
      'refuted',
    ],
    ['a head after the end', listing({}), { headSequence: 40 }, 'refuted'],
    ['entries that nobody can place', listing({ undecided: 2 }), { headSequence: 20 }, 'unproved'],
    ['a stream record that agrees', listing({}), { entryCount: 20, headSequence: 20 }, 'proved'],
    ['a count that is higher', listing({}), { entryCount: 30 }, 'refuted'],
    ['a count that is not that of its head', listing({}), { entryCount: 30, headSequence: 20 }, 'refuted'],
    ['another digest of its head', listing({}), { headSequence: 20, headDigest: 'f'.repeat(64) }, 'refuted'],
    ['entries that came later', listing({}), { entryCount: 15, headSequence: 15 }, 'proved'],
  ];
  test.each(ROWS)('%s', (_words, completeness, statement, state) => {
    const reading = readPackage(packageOf(chainOf(20)), { streamId: STREAM, watch: [15, 20] });
    const { claims, findings } = examineReading(reading, [], {
      completeness,
      statement: { ...NO_STATEMENT, ...statement },
    });
    expect(claims.completeness.state).toBe(state);
    expect(findings.filter(({ severity }) => severity === 'error')).toHaveLength(state === 'refuted' ? 1 : 0);
  });
});

describe('a stream record that states less than the package has', () => {
  const TIMES = chainOf(20).map(({ timestamp }) => timestamp);
  const completeness: CompletenessBasis = { kind: 'record', code: 'no-listing', reason: 'nothing was listed' };
  const record = (more: object, readAt = TIMES[0] ?? ''): RecordedStatement => ({ ...NO_STATEMENT, readAt, ...more });
  const digest = chainOf(20)[9]?.hash ?? '';
  const ROWS: [string, RecordedStatement, string][] = [
    ['all of it', record({ entryCount: 20, headSequence: 20 }), 'proved'],
    ['no entry', record({ entryCount: 0, headSequence: 0 }, '2999-01-01T00:00:00.000Z'), 'unproved'],
    [
      'half of it, and the rest is older',
      record({ entryCount: 10, headSequence: 10, headDigest: digest }, TIMES[15]),
      'unproved',
    ],
    [
      'half of it, and the rest came later',
      record({ entryCount: 10, headSequence: 10, headDigest: digest }, TIMES[10]),
      'proved',
    ],
    ['half of it, by the count alone', record({ entryCount: 10 }), 'unproved'],
    ['more than it has', record({ entryCount: 21, headSequence: 21 }), 'refuted'],
  ];
  test.each(ROWS)('%s', (_words, statement, state) => {
    const watch = [9, 10, 11, 20, 21, 1];
    const reading = readPackage(packageOf(chainOf(20)), { streamId: STREAM, watch });
    const { claims } = examineReading(reading, [], { completeness, statement });
    expect(claims.completeness.state).toBe(state);
  });
});
