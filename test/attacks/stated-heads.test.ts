import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Beginnings } from '../support/beginnings.ts';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { type FalseService, startFalseService, type Told } from '../support/false-service.ts';
import { someRows } from '../support/some-rows.ts';

/** Heads that the list of streams states, compared with earlier exports and with the package. */

const STREAM = 's';
const OTHER = 'a'.repeat(64);
const beginnings = new Beginnings();
let service: FalseService;
beforeAll(async () => {
  service = await startFalseService();
});
afterAll(() => service.close());

/** Adds entries to a month, one every two days. */
function grow(entries: SentEntry[], month: string, count = 10): SentEntry[] {
  for (let index = 0; index < count; index++)
    add(entries, `${month}-${String(1 + ((2 * index) % 28)).padStart(2, '0')}T12:00:00.000Z`);
  return entries;
}

function add(entries: SentEntry[], timestamp: string): void {
  entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: STREAM, timestamp }));
}

const tell = (entries: SentEntry[], more: Partial<Told> = {}) => service.streams.set(STREAM, { entries, ...more });

async function beginWith(entries: SentEntry[], ...months: string[]): Promise<void> {
  tell(entries);
  await beginnings.begin(service.directory, [entries.at(-1)?.hash, ...months].join(' '), async () => {
    for (const period of months) {
      const printed = await service.export({ period });
      expect(`${printed.code} ${printed.said}`).toBe('0 ');
    }
  });
}

const codesOf = ({ document }: { document: { streams: { findings: { code: string }[] }[] } }) =>
  document.streams.flatMap(({ findings }) => findings.map(({ code }) => code));

interface Lie {
  stated: object;
  /** Exit codes for an empty month, and for a month with entries. */
  empty: string;
  full: string;
}

const LIES: Record<string, Lie> = {
  'another digest of the exported head': {
    stated: { entry_count: 10, head_sequence: 10, head_hash: OTHER },
    empty: 'continuity/rewritten',
    full: 'continuity/rewritten',
  },
  'a head below the exported one': {
    stated: { entry_count: 5, head_sequence: 5, head_hash: OTHER },
    empty: 'continuity/truncated',
    full: 'continuity/truncated',
  },
  'no entries': {
    stated: { entry_count: 0, head_sequence: 0, head_hash: null },
    empty: 'continuity/truncated',
    full: 'continuity/truncated',
  },
  'a head that nothing leads to, and fewer entries': {
    stated: { entry_count: 3, head_sequence: 20, head_hash: OTHER },
    empty: 'completeness/count-differs',
    full: 'completeness/count-differs',
  },
  'more entries than numbers': {
    stated: { entry_count: 31, head_sequence: 30, head_hash: OTHER },
    empty: 'completeness/count-differs',
    full: 'completeness/count-differs',
  },
};

describe.each(Object.entries(LIES))('the list of streams states %s', (_words, { stated, empty, full }) => {
  test('in an empty month', async () => {
    const entries = grow([], '2026-08');
    await beginWith(entries, '2026-08');
    tell(entries, { stated });
    const exported = await service.export({ period: '2026-09' });
    expect([exported.code, codesOf(exported)]).toEqual([1, expect.arrayContaining([empty])]);
    expect((await service.verify()).code).toBe(1);
  });

  test('in a month with entries', async () => {
    const entries = grow([], '2026-08');
    await beginWith(entries, '2026-08');
    tell(grow(entries, '2026-09'), { stated });
    const exported = await service.export({ period: '2026-09' });
    expect([exported.code, codesOf(exported)]).toEqual([1, expect.arrayContaining([full])]);
    expect((await service.verify()).code).toBe(1);
  });
});

/** First exports, in which only the package can contradict the list of streams. */
const AGAINST_THE_PACKAGE: [words: string, stated: object, code: number][] = [
  ['a head below the last entry of a period that ended', { entry_count: 5, head_sequence: 5, head_hash: null }, 1],
  ['another digest of an entry within', { entry_count: 5, head_sequence: 5, head_hash: OTHER }, 1],
  ['fewer entries, and no head', { entry_count: 3, head_sequence: null, head_hash: null }, 1],
  ['fewer entries, up to the last one', { entry_count: 3, head_sequence: 10, head_hash: null }, 1],
  ['nothing', { entry_count: 10, head_sequence: null, head_hash: null }, 0],
];
test.each(someRows(AGAINST_THE_PACKAGE, ([words]) => words))(
  'a first export, and the list of streams states %s',
  async (_words, stated, code) => {
    await beginWith(grow([], '2026-08'));
    tell(grow([], '2026-08'), { stated });
    expect((await service.export({ period: '2026-08' })).code).toBe(code);
    expect((await service.verify()).code).toBe(code);
  },
);

/** Lists of streams that an honest service may return. */
const HONEST: Record<string, { grown?: (entries: SentEntry[]) => void; told?: Partial<Told>; code: number }> = {
  'entries that came after the month': { grown: (entries) => grow(entries, '2026-10', 4), code: 4 },
  'a quiet stream': { code: 4 },
  'no digest and no count': { told: { stated: { entry_count: 10, head_hash: null } }, code: 4 },
};
test.each(Object.entries(HONEST))('an empty month, and %s', async (_words, { grown, told = {}, code }) => {
  const entries = grow([], '2026-08');
  await beginWith(entries, '2026-08');
  grown?.(entries);
  tell(entries, told);
  expect((await service.export({ period: '2026-09' })).code).toBe(code);
  expect((await service.verify()).code).toBe(0);
});

test('entries that come between the list of streams and the package contradict nothing', async () => {
  const entries = grow([], '2026-08');
  await beginWith(entries, '2026-08');
  const before = entries.at(-1);
  const stated = { entry_count: 10, head_sequence: 10, head_hash: before?.hash };
  for (let second = 0; second < 3; second++) add(entries, new Date(Date.now() + second).toISOString());
  tell(entries, { stated });
  expect((await service.export({ request: 'now', from: '2026-11-01' })).code).toBe(0);
  expect((await service.verify()).code).toBe(0);
});

describe('entries that are dated into a month that is archived', () => {
  const LATE = '2026-08-31T23:59:59.999Z';
  const late = (entries: SentEntry[], count = 10) => {
    for (let index = 0; index < count; index++) add(entries, LATE);
  };

  test('are named by the next export, and fetched with the months that are missing', async () => {
    const entries = grow([], '2026-08');
    await beginWith(entries, '2026-08');
    late(entries);
    const exported = await service.export({ period: '2026-09' });
    expect(exported.code).toBe(3);
    expect(exported.document.streams[0].findings).toMatchObject([
      { code: 'continuity/grown', from: 11, to: 20, recorded_at: LATE },
    ]);
    expect((await service.verify()).code).toBe(3);
    const planned = await service.export({ missing: true, 'dry-run': true });
    expect(planned.document.missing.map(({ month }: { month: string }) => month)).toEqual([
      '2026-08',
      '2026-09',
      '2026-10',
    ]);
    const { code, document } = await service.export({ missing: true });
    expect(document.runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual(['2026-08.r2', '2026-09', '2026-10']);
    expect(code).toBe(0);
    expect((await service.verify()).code).toBe(0);
    expect((await service.export({ missing: true })).document.runs).toEqual([]);
  });

  test('are named after entries of the month itself, and once it was exported without any', async () => {
    const entries = grow([], '2026-08');
    await beginWith(entries, '2026-08');
    grow(entries, '2026-09', 3);
    late(entries, 2);
    const exported = await service.export({ period: '2026-09' });
    expect([exported.code, codesOf(exported)]).toEqual([3, ['continuity/grown']]);
  });

  test('after entries of the next month, which is archived too: they are named until the whole stream is exported', async () => {
    const entries = grow([], '2026-08');
    await beginWith(grow(entries, '2026-09'), '2026-08', '2026-09');
    late(entries, 2);
    grow(entries, '2026-10');
    for (let time = 0; time < 2; time++) {
      const missing = await service.export({ missing: true });
      expect([missing.code, missing.document.failed]).toEqual([
        3,
        ['2026-08', '2026-10'].map((month) => ({ month, exit_code: 3 })),
      ]);
      expect((await service.verify()).code).toBe(3);
    }
    const october = await service.export({ period: '2026-10' });
    expect(october.document.streams[0].findings).toMatchObject([
      {
        code: 'continuity/grown',
        from: 21,
        to: 22,
        recorded_at: LATE,
        next_step: expect.stringContaining('--all-time'),
      },
    ]);
    expect((await service.export({ 'all-time': true })).code).toBe(0);
    expect(await service.export({ missing: true })).toMatchObject({ code: 0, document: { failed: [] } });
    expect((await service.verify()).code).toBe(0);
  });

  test('among entries of another month: that month is named, not refuted, until the whole stream is exported', async () => {
    const entries = grow([], '2026-08');
    await beginWith(entries, '2026-08');
    grow(entries, '2026-09', 2);
    late(entries, 1);
    grow(entries, '2026-09', 2);
    const september = await service.export({ period: '2026-09' });
    expect([september.code, september.document.failed]).toMatchObject([
      3,
      [
        {
          stream_id: STREAM,
          reason: expect.stringMatching(/^entry 13 are.*lists them with times outside it$/),
          next_step: expect.stringContaining('--all-time'),
        },
      ],
    ]);
    expect((await service.verify()).code).toBe(3);
    expect((await service.export({ 'all-time': true })).code).toBe(0);
    tell(entries, { listed: (all) => all.filter(({ sequence }) => sequence !== 13) });
    const hidden = await service.export({ period: '2026-09', revise: true });
    expect([hidden.code, codesOf(hidden)]).toEqual([1, expect.arrayContaining(['order/gap'])]);
  });

  test('that the service shows in no month are a gap', async () => {
    const entries = grow([], '2026-08');
    await beginWith(grow(entries, '2026-09'), '2026-08', '2026-09');
    late(entries, 2);
    grow(entries, '2026-10');
    const hidden = (all: SentEntry[]) => all.filter(({ timestamp }) => timestamp !== LATE);
    tell(entries, { listed: hidden, packaged: hidden });
    const exported = await service.export({ period: '2026-10' });
    expect([exported.code, codesOf(exported)]).toEqual([1, expect.arrayContaining(['continuity/gap'])]);
  });

  test('are left to the month that nobody exported yet', async () => {
    const entries = grow([], '2026-08');
    await beginWith(entries, '2026-08');
    grow(entries, '2026-09');
    expect((await service.export({ period: '2026-10' })).code).toBe(4);
  });

  test('leave the month open where the service does not list them', async () => {
    const entries = grow([], '2026-08');
    await beginWith(entries, '2026-08');
    late(entries);
    tell(entries, { refuseAfter: true });
    const exported = await service.export({ period: '2026-09' });
    expect([exported.code, codesOf(exported)]).toEqual([3, ['continuity/unfetched']]);
  });
});
