import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { RowMap } from '../../../src/core/rows/map.ts';
import type { Archive } from '../../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { appendEntry } from '../../../src/exporter/ledger/append.ts';
import { readKnownLedger } from '../../../src/exporter/ledger/continuation.ts';
import { acceptRestart } from '../../../src/exporter/ledger/restart.ts';
import { deriveEntry } from '../../../src/verifier/ledger/derive.ts';
import type { LedgerEnd } from '../../../src/verifier/ledger/end.ts';
import {
  findEntry,
  type LedgerEntry,
  readEntry,
  readNewestEntry,
  type StoredLedgerEntry,
  type Subject,
} from '../../../src/verifier/ledger/ledger.ts';
import { coverageOf } from '../../../src/verifier/records/coverage.ts';
import type { LedgerHead, RunStream } from '../../../src/verifier/records/record.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { DIGEST, runRecord, runStream } from '../../support/records.ts';
import { ledgerEnd } from '../../support/signed-archive.ts';

const ALL_TIME = { from: null, to: null };
const UNSIGNED = { signingKey: null, publicKeys: [] };

const OTHER = 'b'.repeat(64);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function subject(runId: string, streams: RunStream[] = [runStream('s')]): Extract<Subject, { kind: 'run' }> {
  const record = runRecord(runId, streams);
  return { kind: 'run', record, sha256: sha256(toRecordBytes(record)) };
}

const NOTHING = {
  newest: null,
  runs: new Map<string, string>(),
  retired: new Set<string>(),
  abandoned: new Set<string>(),
};

/** Records a run in the order of finalizing: its record first. */
async function addRun(archive: Archive, runId: string, streams?: RunStream[], known?: LedgerEnd) {
  const added = subject(runId, streams);
  await put(archive, `runs/${runId}/run.json`, added.record);
  return appendEntry(archive, added, known ?? (await ledgerEnd(archive)), UNSIGNED);
}

function stored(heads: Record<string, LedgerHead>, number = 7): StoredLedgerEntry {
  const common = {
    format: 'evidence-ledger-entry/7' as const,
    number,
    previous_sha256: DIGEST,
    created_at: 'then',
    audit_url: 'u',
  };
  const coverage = coverageOf(runRecord('before', []));
  return {
    key: 'k',
    sha256: OTHER,
    entry: {
      ...common,
      run_id: 'before',
      run_sha256: DIGEST,
      package_period: ALL_TIME,
      coverage,
      supersedes: [],
      spans: RowMap.of<null>([]),
      heads: RowMap.of(Object.entries(heads)),
    },
  };
}

const headsIn = ({ heads }: LedgerEntry) => Object.fromEntries(heads);
const headAt = (sequence: number): LedgerHead => ({ sequence, hash: OTHER, run_id: 'before' });
const now = { sequence: 10, hash: DIGEST, run_id: '2026-10' };

const HEADS: [string, RunStream, LedgerHead | undefined, LedgerHead | undefined][] = [
  ['a new stream', runStream('s'), undefined, now],
  ['a later head', runStream('s'), headAt(9), now],
  ['the same sequence', runStream('s'), headAt(10), headAt(10)],
  ['an earlier head', runStream('s'), headAt(11), headAt(11)],
  ['order refuted', runStream('s', {}, { order: 'refuted' }), headAt(9), headAt(9)],
  ['order unproved', runStream('s', {}, { order: 'unproved' }), headAt(9), headAt(9)],
  ['continuity refuted', runStream('s', {}, { continuity: 'refuted' }), headAt(9), headAt(9)],
  ['continuity unproved', runStream('s', {}, { continuity: 'unproved' }), headAt(9), now],
  ['content refuted', runStream('s', {}, { content: 'refuted' }), headAt(9), now],
  ['no entries', runStream('s', { head: null }), headAt(9), headAt(9)],
  ['a new stream out of order', runStream('s', {}, { order: 'refuted' }), undefined, undefined],
];

describe('the heads after a run', () => {
  test.each(HEADS)('%s', (_words, stream, earlier, after) => {
    const heads = earlier === undefined ? {} : { s: earlier };
    expect(headsIn(deriveEntry(subject('2026-10', [stream]), stored(heads)))).toEqual(
      after === undefined ? {} : { s: after },
    );
  });

  test('streams that the run did not see keep theirs', () => {
    const entry = deriveEntry(subject('2026-10', [runStream('s')]), stored({ t: headAt(3) }));
    expect(headsIn(entry)).toEqual({ s: now, t: headAt(3) });
  });

  test('their order does not depend on that of the streams', () => {
    const ids = ['b', 'a', 'Z', 'ä', '10', '9'];
    const one = deriveEntry(
      subject(
        '2026-10',
        ids.map((id) => runStream(id)),
      ),
      null,
    );
    const other = deriveEntry(
      subject(
        '2026-10',
        ids.toReversed().map((id) => runStream(id)),
      ),
      null,
    );
    expect([...one.heads].map(([id]) => id)).toEqual(ids.toSorted());
    expect([...other.heads].map(([id]) => id)).toEqual(ids.toSorted());
  });
});

test('an entry names the run, its digest and the entry before', () => {
  expect(deriveEntry(subject('2026-10'), stored({}))).toMatchObject({
    number: 8,
    run_id: '2026-10',
    run_sha256: subject('2026-10').sha256,
    previous_sha256: OTHER,
    created_at: '2026-11-01T00:01:00.000Z',
  });
  expect(deriveEntry(subject('2026-10'), null)).toMatchObject({ number: 1, previous_sha256: '0'.repeat(64) });
});

/** Reads the archive's ledger and checks every link. */
async function readChain(archive: Archive): Promise<StoredLedgerEntry[]> {
  const entries: StoredLedgerEntry[] = [];
  for await (const { key } of archive.list('ledger/')) entries.push(await readEntry(archive, key));
  for (const [index, { key, entry }] of entries.entries()) {
    expect(key).toBe(`ledger/${String(index + 1).padStart(8, '0')}.json`);
    expect(entry.number).toBe(index + 1);
    const previous = entries[index - 1]?.key;
    const digest = previous === undefined ? '0'.repeat(64) : sha256(await archive.readBytes(previous, 1e6));
    expect(entry.previous_sha256).toBe(digest);
  }
  return entries;
}

test('twenty that are added at once form one chain', async () => {
  const archive = openMemoryArchive();
  const ids = Array.from({ length: 20 }, (_, index) => `run-${index}`);
  const results = await Promise.all(
    ids.map((id, index) =>
      addRun(archive, id, [runStream('s', { head: { sequence: index + 1, hash: DIGEST } }), runStream(id)], NOTHING),
    ),
  );
  const chain = await readChain(archive);
  expect(chain).toHaveLength(20);
  expect(new Set(chain.map(({ entry }) => 'run_id' in entry && entry.run_id))).toEqual(new Set(ids));
  expect(new Set(results)).toEqual(new Set(['created']));
  const heads = chain.at(-1)?.entry.heads;
  expect(heads?.get('s')?.sequence).toBe(20);
  expect(heads?.size).toBe(21);
  const found = await Promise.all(ids.map((id) => findEntry(archive, id)));
  expect(found.map((entry) => entry !== null && 'run_id' in entry.entry && entry.entry.run_id)).toEqual(ids);
});

test('what is not there is null', async () => {
  const archive = openMemoryArchive();
  expect([await readNewestEntry(archive), await findEntry(archive, '2026-10')]).toEqual([null, null]);
  await addRun(archive, '2026-10');
  expect(await findEntry(archive, '2026-09')).toBeNull();
});

test('a store that fails is no race', async () => {
  const archive = openMemoryArchive();
  const broken = new TypeError('the disk is gone');
  archive.put = () => Promise.reject(broken);
  await expect(appendEntry(archive, subject('2026-10'), NOTHING, UNSIGNED)).rejects.toBe(broken);
});

test('streams of any name keep their heads over many runs', async () => {
  const archive = openMemoryArchive();
  const ids = ['__proto__', 'constructor', 'toString', '1', '', 'ä/..', '\u{1f600}'];
  await addRun(
    archive,
    '2026-09',
    ids.map((id) => runStream(id, { head: { sequence: 5, hash: DIGEST } })),
  );
  await addRun(archive, '2026-10', [runStream('other')]);
  const heads = [...((await readNewestEntry(archive))?.entry.heads ?? [])];
  expect(heads.map(([id]) => id)).toEqual([...ids, 'other'].toSorted());
  expect(heads.every(([id, head]) => id === 'other' || head.sequence === 5)).toBe(true);
});

async function put(archive: Archive, key: string, value: unknown): Promise<void> {
  const bytes = typeof value === 'string' ? Buffer.from(value) : toRecordBytes(value);
  await archive.put(key, { bytes }, { sha256: sha256(bytes), bytes: bytes.length });
}

describe('an entry that is not one', () => {
  const good = deriveEntry(subject('2026-10'), null);
  const cases: [string, unknown, RegExp][] = [
    ['not JSON', '{', /ledger\/00000001.json is not JSON/],
    ['a member twice', JSON.stringify(good).replace('{', '{"number":1,'), /ledger\/00000001.json is ambiguous/],
    ['an unknown member', { ...good, more: 1 }, /ledger\/00000001.json is not the record/],
    ['another format', { ...good, format: 'evidence-ledger-entry/9' }, /is of the format evidence-ledger-entry\/9/],
    [
      'a head without a digest',
      { ...good, heads: { s: { sequence: 1, run_id: 'r' } } },
      /ledger\/00000001.json is not the record/,
    ],
    ['heads that are a list', { ...good, heads: [['s', headAt(1)]] }, /ledger\/00000001.json is not the record/],
    ['number 0', { ...good, number: 0 }, /ledger\/00000001.json is not the record/],
  ];
  test.each(cases)('%s', async (_words, value, message) => {
    const archive = openMemoryArchive();
    await put(archive, 'ledger/00000001.json', value);
    const reading = readNewestEntry(archive);
    await expect(reading).rejects.toMatchObject({ code: 'unreadable', message: expect.stringMatching(message) });
  });
});

test('an entry that states another number does not lead in a circle', async () => {
  const archive = openMemoryArchive();
  await put(archive, 'ledger/00000005.json', { ...deriveEntry(subject('2026-10'), null), number: 6 });
  await expect(findEntry(archive, '2026-09')).rejects.toMatchObject({
    code: 'unreadable',
    message: expect.stringContaining('ledger/00000005.json'),
  });
});

describe('an accepted restart', () => {
  const options = {
    streamId: 's',
    slug: 's-1',
    reason: 'migrated',
    acceptedBy: { user: 'u', host: 'h' },
    acceptedAt: new Date(0),
  };

  test('replaces the head by the one that the run saw, and stays on record', async () => {
    const archive = openMemoryArchive();
    await addRun(archive, '2026-10', [runStream('s'), runStream('t')]);
    await expect(acceptRestart(archive, options, UNSIGNED)).rejects.toMatchObject({ code: 'usage' });
    const head = { sequence: 4, hash: OTHER };
    await addRun(archive, '2026-11', [runStream('s', { head, status: 'refuted' }, { continuity: 'refuted' })]);
    expect((await readNewestEntry(archive))?.entry.heads.get('s')).toEqual(now);
    await acceptRestart(archive, options, UNSIGNED);
    const heads = new Map((await readNewestEntry(archive))?.entry.heads);
    expect([[...heads.keys()], heads.get('s')]).toEqual([['s', 't'], { ...head, run_id: '2026-11' }]);
    expect((await readKnownLedger(archive, UNSIGNED)).acceptances).toMatchObject([
      { stream_id: 's', reason: 'migrated', head: now },
    ]);
    await readChain(archive);
    expect(await findEntry(archive, '2026-10')).toMatchObject({ entry: { number: 1 } });
  });

  test.each(['unknown', 'constructor', '__proto__'])('of "%s", which has no head, leaves nothing', async (streamId) => {
    const archive = openMemoryArchive();
    await addRun(archive, '2026-10');
    await expect(acceptRestart(archive, { ...options, streamId }, UNSIGNED)).rejects.toMatchObject({
      code: 'not-found',
    });
    for await (const { key } of archive.list('acceptances/')) expect.unreachable(key);
    expect(await readChain(archive)).toHaveLength(1);
  });
});
