import type { Claim, ClaimName } from '../../src/verifier/claims/claim.ts';
import { CLAIMS } from '../../src/verifier/claims/claim.ts';
import { EXIT_CODE_OF } from '../../src/verifier/records/outcome.ts';
import type { RunRecord, RunStream, StreamRecord } from '../../src/verifier/records/record.ts';
import { countRunStreams, toRunOutcome } from '../../src/verifier/records/run-algebra.ts';
import type { Unbound } from '../../src/verifier/records/stored-object.ts';

export const DIGEST = 'a'.repeat(64);
/** Counts for a run without other services. */
export const NO_SUPPLEMENTS = { configured: 0, collected: 0, missing: 0 };

export const TIME_FIELDS = { recorded: 'timestamp', occurred: 'occurred_at' };

/** Source of the default contract. */
export const SOURCE: RunRecord['source'] = {
  audit_url: 'https://audit.example.com',
  contract: 'default',
  contract_sha256: null,
  time_fields: TIME_FIELDS,
  moved_from: null,
  requests: [],
};

type States = Partial<Record<ClaimName, Claim['state']>>;

/** Returns a valid record of a stream, with changes. */
export function streamRecord(
  streamId: string,
  more: Partial<Unbound<StreamRecord>> = {},
  states: States = {},
): Unbound<StreamRecord> {
  const claims = Object.fromEntries(CLAIMS.map((name) => [name, { state: states[name] ?? 'proved' }]));
  return {
    format: 'evidence-stream/7',
    run_id: '2026-10',
    stream_id: streamId,
    status: 'verified',
    package_id: 'pkg-1',
    entries: 10,
    first_sequence: 1,
    head: { sequence: 10, hash: DIGEST },
    previous_hash: '0'.repeat(64),
    first_recorded_at: '2026-10-01T00:00:00.000Z',
    last_recorded_at: '2026-10-01T09:00:00.000Z',
    digests_bind: true,
    entries_sha256: null,
    first_occurred_at: '2026-09-30T23:59:59.000Z',
    last_occurred_at: '2026-10-01T08:59:59.000Z',
    claims: claims as StreamRecord['claims'],
    findings: [],
    findings_count: 0,
    activity: { per: 'day', counts: { '2026-10-01': 10 }, undated: 0 },
    actions: { counts: [['LOGIN', 10]], others: 0 },
    partial: false,
    missing: [],
    collected: {
      export_started_at: '2026-11-01T00:00:00.000Z',
      requested_at: '2026-11-01T00:00:01.000Z',
      received_at: '2026-11-01T00:00:30.000Z',
    },
    service: { entries: 10, head: { sequence: 10, hash: DIGEST }, listed: 10, verified: true, failed_sequences: [] },
    bundle: { key: `runs/2026-10/streams/${streamId}.zip`, bytes: 1, sha256: DIGEST, identity: DIGEST },
    recorded_at: '2026-11-01T00:00:00.000Z',
    ...more,
  };
}

export function runStream(streamId: string, more: Partial<Unbound<StreamRecord>> = {}, states: States = {}): RunStream {
  const { format: _format, run_id: _run, recorded_at: _at, ...stream } = streamRecord(streamId, more, states);
  return { ...stream, record: { key: `runs/2026-10/streams/${streamId}.json`, bytes: 1, sha256: DIGEST } };
}

export function runRecord(runId: string, streams: RunStream[], more: Partial<RunRecord> = {}): RunRecord {
  const parts = { streams, failed: [], excluded: [], vanished: [], ...more };
  const outcome = more.outcome ?? toRunOutcome(parts, more.supplements ?? null);
  return {
    format: 'evidence-run/7',
    run_id: runId,
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    scope: {
      streams: [],
      exclude: [],
      request: null,
      requested_by: null,
      required_claims: ['order'],
      accepted_unhashed: [],
      completeness: 'listing',
    },
    period: { from: null, to: null },
    supersedes: [],
    package_period: { from: null, to: null },
    source: SOURCE,
    tool: { name: 'evidence-exporter', version: '0.1.0', commit: null },
    operator: { user: 'u', host: 'h' },
    begun_at: '2026-11-01T00:00:00.000Z',
    begun_at_by_service: null,
    started_at: '2026-11-01T00:00:00.000Z',
    finished_at: '2026-11-01T00:01:00.000Z',
    attempts: [{ started_at: '2026-11-01T00:00:00.000Z', ended_at: '2026-11-01T00:01:00.000Z' }],
    stream_list: {
      pages: [{ path: '/streams/', streams: streams.length, bytes: 1, sha256: DIGEST }],
      streams: streams.map(({ stream_id, service: { entries, head } }) => ({ stream_id, entries, head })),
    },
    streams,
    excluded: [],
    failed: [],
    vanished: [],
    ended: [],
    acceptances: [],
    reconciliation: {
      ...countRunStreams(parts),
      supplements: NO_SUPPLEMENTS,
    },
    supplements: null,
    warnings: [],
    signed: false,
    timestamp_authority: null,
    report: { organisation: null, prepared_by: null, oscal: false, controls: [] },
    earlier_runs: [],
    recovered: 0,
    left_over: [],
    documents: [],
    binding: null,
    ...more,
  };
}
