import { describe, expect, test } from 'vitest';
import { openMemoryArchive } from '../../src/archive/memory.ts';
import { CLAIMS } from '../../src/claims/claim.ts';
import { sha256 } from '../../src/encoding/digest.ts';
import { acceptRestart, readAcceptances } from '../../src/ledger/acceptance.ts';
import { appendEntry, findEntry, readEntry, readNewestEntry, runOf } from '../../src/ledger/ledger.ts';
import { type RunRecord, type RunStream, readRecord, runRecordSchema, toRecordBytes } from '../../src/ledger/record.ts';

type State = 'proved' | 'refuted' | 'unproved';

function streamOf(id: string, last: number | null, states: { order?: State; continuity?: State } = {}): RunStream {
  const claims = Object.fromEntries(CLAIMS.map((name) => [name, { state: 'proved' as State }]));
  claims['order'] = { state: states.order ?? 'proved' };
  claims['continuity'] = { state: states.continuity ?? 'proved' };
  return {
    stream_id: id,
    status: 'verified',
    package_id: 'p',
    entries: last ?? 0,
    first_sequence: last === null ? null : 1,
    last_sequence: last,
    head_hash: last === null ? null : `hash-${last}`,
    claims: claims as RunStream['claims'],
    findings: [],
    findings_count: 0,
    partial: false,
    missing: [],
    bundle: { key: 'k', bytes: 1, sha256: 'a'.repeat(64), identity: 'b'.repeat(64) },
    record: null,
  };
}

function runOfStreams(runId: string, ...streams: RunStream[]): RunRecord {
  return {
    format: 'evidence-run/1',
    run_id: runId,
    outcome: 'verified',
    exit_code: 0,
    scope: { streams: [], exclude: [], request: null, requested_by: null, required_claims: ['order'] },
    period: { from: null, to: null },
    source: { audit_origin: 'http://x', contract: 'default', contract_sha256: null },
    tool: { name: 't', version: '1' },
    operator: { user: 'u', host: 'h' },
    started_at: 's',
    finished_at: `finished ${runId}`,
    streams,
    excluded: [],
    failed: [],
    vanished: [],
    acceptances: [],
    reconciliation: { listed: streams.length, exported: streams.length, partial: 0, failed: 0, empty: 0, excluded: 0 },
    warnings: [],
  };
}

const toSubject = (record: RunRecord) => ({ kind: 'run' as const, record, sha256: sha256(toRecordBytes(record)) });

describe('the heads after a run', () => {
  test.each<[string, RunStream, { sequence: number; run_id: string } | undefined]>([
    ['move forward', streamOf('s', 20), { sequence: 20, run_id: 'second' }],
    ['do not move back', streamOf('s', 5), { sequence: 10, run_id: 'first' }],
    ['stay when the order is refuted', streamOf('s', 20, { order: 'refuted' }), { sequence: 10, run_id: 'first' }],
    ['stay when the order is unproved', streamOf('s', 20, { order: 'unproved' }), { sequence: 10, run_id: 'first' }],
    [
      'stay when the continuity is refuted',
      streamOf('s', 20, { continuity: 'refuted' }),
      { sequence: 10, run_id: 'first' },
    ],
    [
      'move when the continuity is unproved',
      streamOf('s', 20, { continuity: 'unproved' }),
      { sequence: 20, run_id: 'second' },
    ],
    ['stay for a stream without entries', streamOf('s', null), { sequence: 10, run_id: 'first' }],
    ['stay for a stream that was not exported', streamOf('other', 1), { sequence: 10, run_id: 'first' }],
  ])('%s', async (_words, second, head) => {
    const archive = openMemoryArchive();
    await appendEntry(archive, toSubject(runOfStreams('first', streamOf('s', 10))));
    const { entry } = await appendEntry(archive, toSubject(runOfStreams('second', second)));
    expect(entry.heads['s']).toMatchObject(head ?? {});
  });

  test('keep streams of any name', async () => {
    const archive = openMemoryArchive();
    const names = ['__proto__', 'constructor', '7', '', 'ü/🔐'];
    await appendEntry(archive, toSubject(runOfStreams('first', ...names.map((name) => streamOf(name, 3)))));
    await appendEntry(archive, toSubject(runOfStreams('second')));
    const newest = await readNewestEntry(archive);
    expect(Object.keys(newest?.entry.heads ?? {}).sort()).toEqual([...names].sort());
  });
});

test('twenty runs that race for the ledger make one chain without fork or gap', async () => {
  const archive = openMemoryArchive();
  const runs = Array.from({ length: 20 }, (_, index) => runOfStreams(`run-${index}`, streamOf(`s${index}`, index + 1)));
  await Promise.all(runs.map((run) => appendEntry(archive, toSubject(run))));
  let previous = '0'.repeat(64);
  const recorded = new Set<string | undefined>();
  for (let number = 1; number <= 20; number++) {
    const stored = await readEntry(archive, `ledger/${String(number).padStart(8, '0')}.json`);
    expect([stored.entry.number, stored.entry.previous_sha256]).toEqual([number, previous]);
    recorded.add(runOf(stored.entry)?.id);
    previous = stored.sha256;
  }
  expect(recorded.size).toBe(20);
  expect(Object.keys((await readNewestEntry(archive))?.entry.heads ?? {})).toHaveLength(20);
});

test('a run is found wherever it stands, and an unknown one is not', async () => {
  const archive = openMemoryArchive();
  expect(await findEntry(archive, 'run-1')).toBeNull();
  for (const id of ['run-1', 'run-2', 'run-3']) await appendEntry(archive, toSubject(runOfStreams(id)));
  expect((await findEntry(archive, 'run-1'))?.entry.number).toBe(1);
  expect((await findEntry(archive, 'run-3'))?.entry.number).toBe(3);
  expect(await findEntry(archive, 'run-4')).toBeNull();
});

test('an acceptance takes the head of its stream away, and of no other', async () => {
  const archive = openMemoryArchive();
  await appendEntry(archive, toSubject(runOfStreams('first', streamOf('a', 4), streamOf('b', 5))));
  const wish = { streamId: 'a', slug: 'a-1', reason: 'moved', acceptedBy: { user: 'u', host: 'h' } };
  await acceptRestart(archive, { ...wish, acceptedAt: new Date(0) });
  expect(Object.keys((await readNewestEntry(archive))?.entry.heads ?? {})).toEqual(['b']);
  expect(await readAcceptances(archive)).toMatchObject([
    { stream_id: 'a', reason: 'moved', head: { sequence: 4, run_id: 'first' } },
  ]);
  await expect(acceptRestart(archive, { ...wish, acceptedAt: new Date(1) })).rejects.toMatchObject({
    code: 'not-found',
  });
});

describe('a record that cannot be read', () => {
  const good = Buffer.from(toRecordBytes(runOfStreams('r'))).toString();
  test.each([
    ['is not JSON', good.slice(0, 50), /x\.json is not JSON/],
    ['has a member twice', good.replace('"run_id"', '"outcome": "verified", "run_id"'), /x\.json is ambiguous/],
    ['lacks a member', good.replace('"exit_code": 0,', ''), /x\.json is not the record it should be: .*exit_code/s],
    ['has one too many', good.replace('"run_id"', '"more": 1, "run_id"'), /x\.json .*more/s],
  ])('%s: the error names it', (_words, text, message) => {
    expect(() => readRecord(runRecordSchema, Buffer.from(text), 'x.json')).toThrow(message);
  });

  test('the good one is read', () => {
    expect(readRecord(runRecordSchema, Buffer.from(good), 'x.json').run_id).toBe('r');
  });
});
