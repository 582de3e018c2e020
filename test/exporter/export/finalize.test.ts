import { createSecretKey } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { AuditClient } from '../../../src/exporter/client/audit.ts';
import { DEFAULT_TRANSPORT } from '../../../src/exporter/client/options.ts';
import { Transport } from '../../../src/exporter/client/transport.ts';
import type { ExportContext, RunState } from '../../../src/exporter/export/context.ts';
import type { ExportEvent } from '../../../src/exporter/export/events.ts';
import { concludeRun } from '../../../src/exporter/export/finalize.ts';
import type { StoredRecord, StreamJobs } from '../../../src/exporter/export/stream-jobs.ts';
import { readNewestEntry } from '../../../src/verifier/ledger/ledger.ts';
import { DEFAULT_DESCRIPTION, defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { ATTEMPT as ATTEMPT_RECORD } from '../../../src/verifier/records/attempt.ts';
import { RUN_RECORD, type StreamRecord } from '../../../src/verifier/records/record.ts';
import { readRecord } from '../../../src/verifier/records/record-bytes.ts';
import { DIGEST, streamRecord } from '../../support/records.ts';

const workDirectory = mkdtempSync(join(tmpdir(), 'finalize-test-'));
const STARTED = new Date('2026-11-01T00:00:00.000Z');
const FINALIZED = [
  'archive.json',
  'ledger/00000001.json',
  'runs/2026-10/asked.json',
  'runs/2026-10/index.csv',
  'runs/2026-10/report.html',
  'runs/2026-10/report.pdf',
  'runs/2026-10/run-draft.json',
  'runs/2026-10/run.json',
];
const ATTEMPT = 'runs/2026-10/attempts/2026-11-01T00-00-00.000Z/attempt.json';

function contextOf(more: Partial<ExportContext> = {}) {
  const signal = new AbortController().signal;
  const events: ExportEvent[] = [];
  const archive = openMemoryArchive();
  const transport = new Transport({
    ...DEFAULT_TRANSPORT,
    origin: 'http://127.0.0.1:9',
    apiKey: 'k',
    userAgent: 't',
    signal,
  });
  const key = createSecretKey(Buffer.alloc(32));
  const context: ExportContext = {
    question: {
      run_id: '2026-10',
      source: { audit_url: 'https://audit.example.com', contract_sha256: null },
      period: { from: null, to: null },
      scope: {
        streams: [],
        exclude: [],
        request: null,
        requested_by: null,
        required_claims: ['order'],
        accepted_unhashed: [],
        completeness: 'off',
      },
    },
    finalizePartial: false,
    handedOut: null,
    service: {
      client: new AuditClient(transport, {
        url: 'http://127.0.0.1:9',
        description: DEFAULT_DESCRIPTION,
        pinned: false,
        signal,
      }),
      contract: defaultContract,
      contractFile: null,
      packagePeriod: { from: null, to: null },
      isMoved: false,
      supplements: null,
    },
    archive,
    recipients: null,
    acceptsSecrets: false,
    trust: { sealKeys: new Map(), roots: null },
    supersedes: [],
    binding: { key, nonce: '0'.repeat(64), keyFor: async () => key },
    signing: { signingKey: null, publicKeys: [], stamping: null },
    maker: {
      tool: { name: 't', version: '0' },
      commit: null,
      operator: { user: 'u', host: 'h' },
      report: { organisation: null, prepared_by: null, oscal: false, controls: [] },
    },
    runtime: {
      workDirectory,
      concurrency: 1,
      now: () => new Date('2026-11-01T00:01:00.000Z'),
      signal,
      listen: (event) => events.push(event),
      around: (_streamId, work) => work(),
    },
    ...more,
  };
  return { context, archive, events };
}

const stored = (
  streamId: string,
  ...more: Parameters<typeof streamRecord> extends [string, ...infer Rest] ? Rest : never
): StoredRecord => ({
  record: streamRecord(streamId, ...more),
  key: `runs/2026-10/streams/${streamId}.json`,
  bytes: 1,
  sha256: DIGEST,
});
const listed = (streamId: string) => ({
  streamId,
  entryCount: 0,
  headSequence: 0,
  headDigest: null,
  drift: null,
  record: '{}',
});
const failure = (stream_id: string) => ({ stream_id, code: 'service' as const, reason: 'gone', next_step: 'again' });
const exclusion = (stream_id: string) => ({ stream_id, pattern: 'x' });

function jobsOf({
  included = [],
  excluded = [],
  ...more
}: Partial<Omit<StreamJobs, 'selection'>> & { included?: string[]; excluded?: string[] }): StreamJobs {
  return {
    selection: { included: included.map(listed), excluded: excluded.map(exclusion), list: { pages: [], streams: [] } },
    recorded: [],
    incomplete: [],
    failed: [],
    refused: 0,
    recovered: [],
    ...more,
  };
}

const run = (heads: RunState['heads'] = new Map()): RunState => ({
  beginning: { at: STARTED, byService: null },
  start: { at: STARTED, clock: null },
  movedFrom: null,
  ledger: { newest: null, runs: new Map(), retired: new Set(), abandoned: new Set() },
  heads,
  attempts: [],
  past: { spans: new Map(), runs: new Map(), abandoned: new Set(), givenUp: new Map(), coverage: [] },
  restarts: new Map(),
  acceptances: [],
  account: null,
  supplements: null,
  storedSupplements: null,
  packing: {
    write: () => Promise.reject(new Error('nothing is packed here')),
    [Symbol.asyncDispose]: async () => {},
    hasPackedMuch: false,
  },
});
const COUNTS = { listed: 0, exported: 0, partial: 0, failed: 0, empty: 0, excluded: 0 };
const EMPTY = { status: 'empty', entries: 0, first_sequence: null, head: null } as const;
const PARTIAL: Partial<StreamRecord> = {
  status: 'incomplete',
  partial: true,
  missing: [{ form: 'pdf', code: 'service', reason: 'r' }],
};

type Row = [string, StreamJobs, boolean, string, number, string, typeof COUNTS];
const RUNS: Row[] = [
  [
    'all verified',
    jobsOf({ included: ['a', 'b'], recorded: [stored('a'), stored('b')] }),
    false,
    'finalized',
    0,
    'verified',
    { ...COUNTS, listed: 2, exported: 2 },
  ],
  [
    'one of each that can be finalized',
    jobsOf({
      included: ['a', 'b', 'c'],
      excluded: ['d'],
      recorded: [stored('a'), stored('b', EMPTY), stored('c', { status: 'refuted' })],
    }),
    false,
    'finalized',
    1,
    'refuted',
    { ...COUNTS, listed: 4, exported: 2, empty: 1, excluded: 1 },
  ],
  [
    'only empty ones',
    jobsOf({ included: ['a'], recorded: [stored('a', EMPTY)] }),
    false,
    'finalized',
    4,
    'empty',
    { ...COUNTS, listed: 1, empty: 1 },
  ],
  [
    'one incomplete',
    jobsOf({ included: ['a', 'b'], recorded: [stored('a')], incomplete: [streamRecord('b', PARTIAL)] }),
    false,
    'open',
    3,
    'incomplete',
    { ...COUNTS, listed: 2, exported: 1, partial: 1 },
  ],
  [
    'one failed',
    jobsOf({ included: ['a', 'b'], recorded: [stored('a')], failed: [failure('b')] }),
    false,
    'open',
    3,
    'incomplete',
    { ...COUNTS, listed: 2, exported: 1, failed: 1 },
  ],
  [
    'one failed, finalized all the same',
    jobsOf({ included: ['a', 'b'], recorded: [stored('a', PARTIAL)], failed: [failure('b')] }),
    true,
    'finalized',
    3,
    'incomplete',
    { ...COUNTS, listed: 2, partial: 1, failed: 1 },
  ],
  [
    'partial and refuted',
    jobsOf({ included: ['a'], recorded: [stored('a', { ...PARTIAL, status: 'refuted' })] }),
    false,
    'finalized',
    1,
    'refuted',
    { ...COUNTS, listed: 1, partial: 1 },
  ],
  [
    'partial, and what is there is verified',
    jobsOf({ included: ['a'], recorded: [stored('a', { ...PARTIAL, status: 'verified' })] }),
    true,
    'finalized',
    3,
    'incomplete',
    { ...COUNTS, listed: 1, partial: 1 },
  ],
  ['nothing listed', jobsOf({}), false, 'open', 4, 'empty', COUNTS],
  ['nothing in scope', jobsOf({ excluded: ['a'] }), false, 'open', 4, 'empty', { ...COUNTS, listed: 1, excluded: 1 }],
  [
    'a record of a stream that is no longer listed',
    jobsOf({ included: ['a'], recorded: [stored('a'), stored('b')] }),
    false,
    'finalized',
    1,
    'refuted',
    { ...COUNTS, listed: 1, exported: 1 },
  ],
  [
    'a record of a stream that this try leaves out',
    jobsOf({ included: ['a'], excluded: ['b', 'c'], recorded: [stored('a'), stored('b')] }),
    false,
    'finalized',
    0,
    'verified',
    { ...COUNTS, listed: 3, exported: 2, excluded: 1 },
  ],
];

describe('the end of a run', () => {
  test.each(RUNS)('%s', async (_words, jobs, finalizePartial, state, exitCode, outcome, counts) => {
    const { context } = contextOf({ finalizePartial });
    const result = await concludeRun(context, run(), jobs);
    expect(result).toMatchObject({ state, record: { exit_code: exitCode, outcome, reconciliation: counts } });
    const { listed: all, supplements: _supplements, ...classes } = result.record.reconciliation;
    expect(Object.values(classes).reduce((sum, count) => sum + count, 0)).toBe(all);
  });

  test.each(RUNS)('what it leaves in the archive: %s', async (_words, jobs, finalizePartial, state) => {
    const { context, archive, events } = contextOf({ finalizePartial });
    const { record } = await concludeRun(context, run(), jobs);
    const keys: string[] = [];
    for await (const { key } of archive.list('')) keys.push(key);
    const anything = jobs.failed.length + jobs.incomplete.length > 0;
    expect(keys).toEqual(
      state === 'finalized'
        ? FINALIZED
        : anything
          ? ['archive.json', 'runs/2026-10/asked.json', ATTEMPT, ATTEMPT.replace('attempt.json', 'report.pdf')]
          : [],
    );
    expect(events.map(({ type }) => type)).toEqual(state === 'finalized' ? ['finalized'] : []);
    if (state === 'finalized')
      expect(readRecord(RUN_RECORD, await archive.readBytes('runs/2026-10/run.json', 1e6), 'run')).toEqual(record);
  });
});

test('what was not accounted for is a defect, and nothing is finalized', async () => {
  const { context, archive } = contextOf();
  const lost = jobsOf({ included: ['a', 'b'], recorded: [stored('a')] });
  await expect(concludeRun(context, run(), lost)).rejects.toThrow('2 streams are listed, but 1 accounted for');
  expect(await archive.stat('runs/2026-10/run.json')).toBeNull();
});

test('what this try would have left out is not named as excluded', async () => {
  const { context } = contextOf();
  const jobs = jobsOf({ excluded: ['a', 'b'], recorded: [stored('a')] });
  expect((await concludeRun(context, run(), jobs)).record.excluded).toEqual([exclusion('b')]);
});

test('an attempt says what is missing and why', async () => {
  const { context, archive } = contextOf();
  const jobs = jobsOf({
    included: ['a', 'b'],
    failed: [failure('a')],
    incomplete: [streamRecord('b', PARTIAL)],
  });
  await concludeRun(context, run(), jobs);
  const attempt = readRecord(ATTEMPT_RECORD, await archive.readBytes(ATTEMPT, 1e6), ATTEMPT);
  expect(attempt).toMatchObject({
    run_id: '2026-10',
    failed: [failure('a')],
    incomplete: [{ stream_id: 'b', missing: PARTIAL.missing }],
    reconciliation: { listed: 2, partial: 1, failed: 1 },
  });
});

test('a stream that vanished refutes the run, though all others are well', async () => {
  const { context } = contextOf();
  const heads = new Map([['gone', { sequence: 3, hash: DIGEST, run_id: '2026-09' }]]);
  const { record } = await concludeRun(context, run(heads), jobsOf({ included: ['a'], recorded: [stored('a')] }));
  expect(record).toMatchObject({ outcome: 'refuted', exit_code: 1, vanished: [{ stream_id: 'gone' }] });
});

test('of two that finalize the same run at once, the second one keeps its hands off', async () => {
  const { context, archive } = contextOf();
  const first = await concludeRun(context, run(), jobsOf({ included: ['a'], recorded: [stored('a')] }));
  const second = await concludeRun(
    context,
    run(),
    jobsOf({ included: ['a', 'b'], recorded: [stored('a'), stored('b')] }),
  );
  expect(second).toEqual({ state: 'already', record: first.record, unstamped: null });
  expect((await readNewestEntry(archive))?.entry.number).toBe(1);
});

test('a head moves on when the run is finalized', async () => {
  const { context, archive } = contextOf();
  await concludeRun(context, run(), jobsOf({ included: ['a'], recorded: [stored('a')] }));
  expect([...((await readNewestEntry(archive))?.entry.heads ?? [])]).toEqual([
    ['a', { sequence: 10, hash: DIGEST, run_id: '2026-10' }],
  ]);
});
