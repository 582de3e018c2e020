import { describe, expect, test } from 'vitest';
import type { ReportedClaims } from '../../../src/verifier/claims/claim.ts';
import { CLAIMS } from '../../../src/verifier/claims/claim.ts';
import { DEFAULT_DESCRIPTION } from '../../../src/verifier/reading/default-contract.ts';
import type { RecordKind } from '../../../src/verifier/supplements/files.ts';
import { ImpliedRecords } from '../../../src/verifier/supplements/implied.ts';
import { askedAtOf } from '../../../src/verifier/supplements/judging.ts';
import { describeRecords, readRecords } from '../../../src/verifier/supplements/reading.ts';
import { standingOf } from '../../../src/verifier/supplements/standing.ts';
import { SupplementTally } from '../../../src/verifier/supplements/tally.ts';
import { entryAfter, type SentEntry } from '../../support/chain.ts';

/** Each column of each table, altered by the service, with entries as the platform writes them. */

// biome-ignore lint/suspicious/noExplicitAny: a record with arbitrary members.
type Item = any;

const AT = '2026-10-01T00:00:01.500Z';
const seen = { acknowledged_by: null, acknowledged_at: null };
const reach = { depth: 'read', severity: 'medium', auth_verified: false };
const source = {
  channel: 'web',
  source_event_id: 'x',
  source_ip: '203.0.113.5',
  user_agent: 'curl',
  service: 's3',
  region: 'r',
  event_time: AT,
  request_sha256: 'a',
};
const trap = { detection_id: 'd', credential_type: 'aws_key', plant_location: 'ci', label: 'bait' };
const place = { path: '/bin/sh', path_base64: null, expected_sha256: 'a', observed_sha256: 'b' };
const state = { severity: 'high', status: 'open', explanation: { kind: 'none' }, resolved_at: null, ...seen };
const event = { event_id: 'e', event_type: 'binary_modified', first_seen: AT, ...place, ...state };
const report = {
  report_sha256: 'a',
  chain: 1,
  sequence: 2,
  root_hash: 'h',
  line_count: 3,
  complete: true,
  started_at: AT,
  finished_at: AT,
  received_at: AT,
};
const action = {
  action_type: 'tool',
  action_description: 'read',
  tool_used: 't',
  api_called: 'a',
  input_hash: 'i',
  output_hash: 'o',
  model: 'm',
  version: '1',
  decision: 'allowed',
  attested: true,
  received_at: AT,
  reported_by: 'key:1',
};
const trust = { before: 60, after: 61, tier: 'TRUSTED' };

interface Shown {
  stream: string;
  entry: Partial<SentEntry>;
  record: Item;
  /** Columns that no entry states. */
  reported: string[];
}

const SHOWN: Record<Exclude<RecordKind, 'verifications'>, Shown> = {
  detections: {
    stream: 'traps',
    entry: {
      action: 'trap.used',
      resource_type: 'trap',
      resource_id: 'c',
      metadata: { ...trap, ...source, ...reach, ...seen, requested: 'GET', detected_at: AT, status: 'open' },
    },
    record: {
      ...trap,
      ...source,
      ...reach,
      ...seen,
      action: 'GET',
      detected_at: AT,
      status: 'open',
      credential_id: 'c',
      occurrences: 1,
      first_seen: AT,
      last_seen: AT,
    },
    reported: ['occurrences', 'first_seen', 'last_seen'],
  },
  events: {
    stream: 'endpoints/web',
    entry: { action: 'events.raised', metadata: { events: [{ event_id: 'other' }, event] } },
    record: {
      ...event,
      endpoint_id: 'web',
      endpoint_name: 'n',
      last_seen: AT,
      occurrences: 1,
      scan_id: 's',
      baseline_id: 'b',
    },
    reported: ['last_seen', 'endpoint_name', 'occurrences', 'scan_id', 'baseline_id'],
  },
  scans: {
    stream: 'endpoints/web',
    entry: {
      action: 'report.accepted',
      resource_type: 'report',
      resource_id: 's',
      metadata: { ...report, events: { raised: 1, resolved: 0 } },
    },
    record: {
      ...report,
      scan_id: 's',
      endpoint_id: 'web',
      baseline_id: 'b',
      events: { raised: 1, resolved: 0, open: 4 },
    },
    reported: ['baseline_id', 'events.open'],
  },
  actions: {
    stream: 'agents/a',
    entry: {
      action: 'action.logged',
      resource_type: 'action',
      resource_id: 'x',
      metadata: { ...action, trust, outcome: null, reported_at: null },
    },
    record: { ...action, trust, action_id: 'x', agent_id: 'a', outcome: null },
    reported: [],
  },
};

const claims = Object.fromEntries(CLAIMS.map((name) => [name, { state: 'proved' }])) as ReportedClaims;
const [BEFORE, ASKED, LATER] = ['2026-12-01T01:00:00Z', '2026-12-01T02:00:00Z', '2026-12-01T03:00:00Z'] as const;
const asked = { state: 'collected' as const, origin: 'https://platform', collected_at: ASKED };
const SERVICES = { audit: asked, traps: asked, endpoints: asked, agents: asked };
const ALL_TIME = { from: null, to: null };

interface Told {
  records: Item[];
  later?: Partial<SentEntry>[];
  listed?: number | null;
  period?: { from: string | null; to: string | null };
}

function judge(kind: keyof typeof SHOWN, { records, later = [], listed = 99, period = ALL_TIME }: Told) {
  const { stream, entry } = SHOWN[kind];
  const entries: SentEntry[] = [];
  for (const more of [entry, ...later])
    entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: stream, ...more }));
  const bytesOf = (sequence: number) => Buffer.from(JSON.stringify(entries[sequence - 1]));
  const all = new ImpliedRecords(DEFAULT_DESCRIPTION.supplements, [kind]);
  const implied = entries.flatMap(({ sequence }) =>
    all.of(stream, bytesOf(sequence)).map((one) => ({ ...one, sequence })),
  );
  const notes = {
    find: (sequence: number) => ({ digest: entries[sequence - 1]?.hash ?? '', bytes: bytesOf(sequence) }),
    implied: () => new Map(implied.filter(({ isFirst }) => isFirst).map(({ id, sequence }) => [id, sequence])),
    later: (_: RecordKind, id: string) =>
      implied.filter((one) => !one.isFirst && one.id === id).map((one) => one.sequence),
  };
  const verdict = { status: 'verified' as const, claims, first_sequence: 1, head: entries.at(-1) ?? null };
  const standing = standingOf(verdict, notes, { listed, requestedAt: LATER });
  const tally = new SupplementTally({
    contract: DEFAULT_DESCRIPTION,
    period,
    standingOf: () => standing,
    askedAt: askedAtOf(SERVICES, { startedAt: BEFORE, to: period.to }),
  });
  tally.begin(kind);
  const { stream_id, sequence, hash } = entries[0] as SentEntry;
  const data = records.map((record) => ({ ...record, entry: { stream_id, sequence, hash } }));
  const states = readRecords(DEFAULT_DESCRIPTION, kind, Buffer.from(JSON.stringify({ data }))).map((one) =>
    tally.judge(one),
  );
  tally.finish([stream]);
  const { findings, kinds } = tally.statement;
  return { state: states[0] ?? null, findings, missing: kinds[kind]?.missing };
}

/** Returns a copy with another value at a path. */
function changed(record: Item, column: string): Item {
  const copy = structuredClone(record);
  const names = column.split('.');
  const last = names.pop() ?? '';
  let inner = copy;
  for (const name of names) inner = inner[name] ??= {};
  const value = inner[last];
  inner[last] = typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : otherText(value);
  return copy;
}

function otherText(value: unknown): string {
  return value === AT ? '2025-10-01T00:00:01.500Z' : `${value ?? ''}x`;
}

describe.each(Object.keys(SHOWN) as (keyof typeof SHOWN)[])('of %s', (kind) => {
  const { record, reported } = SHOWN[kind];
  const columns = describeRecords(DEFAULT_DESCRIPTION.supplements as never, kind)?.csv ?? [];

  test('the record as it is follows from its entry, but for columns that are as the service says', () => {
    const { state } = judge(kind, { records: [record] });
    expect([state?.state, state?.as_reported ?? []]).toEqual([
      'proved_by_entry',
      columns.filter((one) => reported.includes(one)),
    ]);
  });

  test.each(columns)('%s, altered, is contradicted, or said to be as the service says', (column) => {
    const { state, findings } = judge(kind, { records: [changed(record, column)] });
    expect(state?.state).toBe(reported.includes(column) ? 'proved_by_entry' : 'contradicted');
    if (!reported.includes(column)) expect(findings.length).toBeGreaterThan(0);
  });

  test('the record left out is missing, and that of another period, or of after the list, is not', () => {
    const ids = kind === 'events' ? 2 : 1;
    expect(judge(kind, { records: [] }).missing).toBe(ids);
    expect(judge(kind, { records: [], listed: 0 }).missing).toBe(0);
    const november = { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' };
    expect(judge(kind, { records: [], period: november }).missing).toBe(0);
  });
});

describe('later entries', () => {
  const { record } = SHOWN.detections;
  const deeper = (more: object): Partial<SentEntry> => ({
    action: 'trap.used_deeper',
    resource_type: 'trap',
    resource_id: 'c',
    metadata: { ...trap, ...reach, requested: 'PUT', ...more },
  });
  const acknowledged = { status: 'acknowledged', acknowledged_by: 'Ada', acknowledged_at: AT };
  const act = {
    action: 'detection.acknowledged',
    resource_type: 'detection',
    resource_id: 'd',
    metadata: acknowledged,
  };
  const worse = { depth: 'used', severity: 'critical' };
  const october = { from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' };

  test.each<[what: string, state: string, told: Omit<Told, 'records'>, more: object]>([
    ['say the same', 'proved_by_entry', { later: [deeper(worse)] }, { ...worse, action: 'PUT' }],
    ['say that it became worse, and it did not', 'contradicted', { later: [deeper(worse)] }, { action: 'PUT' }],
    ['came while it was asked for', 'proved_by_entry', { later: [deeper(worse)], listed: 1 }, {}],
    ['say nothing of what became worse', 'contradicted', {}, { severity: 'critical' }],
    ['may be after the bundle', 'proved_by_entry', { period: october }, { severity: 'critical' }],
    ['may be after the bundle, and never lower it', 'contradicted', { period: october }, { severity: 'low' }],
    ['say who acknowledged it', 'proved_by_entry', { later: [act] }, acknowledged],
    ['say that another did', 'contradicted', { later: [act] }, { ...acknowledged, acknowledged_by: 'Eve' }],
    ['are of another record', 'contradicted', { later: [{ ...act, resource_id: 'd2' }] }, acknowledged],
    [
      'could trace only what was told of without a name',
      'contradicted',
      { period: october },
      { source_ip: '10.0.0.1' },
    ],
    ['change what never changes', 'contradicted', { period: october }, { label: 'x' }],
  ])('%s: %s', (_what, state, told, more) => {
    const found = judge('detections', { records: [{ ...record, ...more }], ...told });
    expect([found.state?.state, found.state?.reason]).toEqual([
      state,
      state === 'contradicted' ? expect.any(String) : undefined,
    ]);
  });

  test('that may be after the bundle leave what they may have changed as the service says', () => {
    const { state } = judge('detections', { records: [{ ...record, severity: 'critical' }], period: october });
    expect(state?.as_reported).toContain('severity');
  });
});
