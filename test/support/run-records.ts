import { toStreamFinding } from '../../src/verifier/model/stream-finding.ts';
import type { Outcome } from '../../src/verifier/records/outcome.ts';
import type { EarlierRun, RunRecord, RunStream, StreamRecord } from '../../src/verifier/records/record.ts';
import { DIGEST, NO_SUPPLEMENTS, runRecord, runStream, SOURCE } from './records.ts';

/** Returns a distinct digest for every number. */
export const digestOf = (number: number) => number.toString(16).padStart(8, '0').repeat(8);

const DAYS = Object.fromEntries(
  Array.from({ length: 31 }, (_, day) => [`2026-10-${String(day + 1).padStart(2, '0')}`, 1 + (day % 5)]),
);
const ENTRIES = Object.values(DAYS).reduce((sum, count) => sum + count);

/** Returns a month's stream with entries on every day. */
export function monthStream(
  number: number,
  streamId = `prod/service-${number}`,
  more: Partial<StreamRecord> = {},
  states: Parameters<typeof runStream>[2] = {},
): RunStream {
  const bundle = {
    key: `runs/2026-10/streams/s-${number}.zip`,
    bytes: 1000 + number,
    sha256: digestOf(number),
    identity: DIGEST,
  };
  const activity = { per: 'day' as const, counts: DAYS, undated: 0 };
  const own = { entries: ENTRIES, head: { sequence: ENTRIES, hash: digestOf(number + 1_000_000) }, activity, bundle };
  const actions = { counts: [['LOGIN', ENTRIES]] as [string, number][], others: 0 };
  return runStream(streamId, { ...own, actions, ...more }, states);
}

export function earlierRun(month: string, outcome: Outcome = 'verified'): EarlierRun {
  const to = new Date(`${month}-01T00:00:00Z`);
  to.setUTCMonth(to.getUTCMonth() + 1);
  const period = { from: `${month}-01T00:00:00.000Z`, to: to.toISOString() };
  return {
    run_id: month,
    period,
    outcome,
    finished_at: period.to,
    until: period.to,
    filter: '',
    streams: 2,
    listed: 2,
    left_out: 0,
    excluded: 0,
    entries: 20,
    first_entry: `${month}-01`,
  };
}

const MONTH: Partial<RunRecord> = {
  period: { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' },
  scope: {
    streams: ['prod/*'],
    exclude: ['*/debug'],
    request: 'AUD-2026-014',
    requested_by: 'J. Smith, Example Audit',
    required_claims: ['order', 'content'],
    accepted_unhashed: [],
    completeness: 'listing',
  },
  source: {
    ...SOURCE,
    requests: [{ purpose: 'list_streams', method: 'GET', path: '/audit/streams/', parameters: ['limit=500'] }],
  },
  tool: { name: 'evidence-exporter', version: '0.1.0', commit: 'c0ffee' },
  operator: { user: 'evidence', host: 'batch-7' },
  report: { organisation: 'Acme Payments Ltd', prepared_by: 'P. Jones, Audit Liaison', oscal: true, controls: [] },
};

/** Returns a run without findings. */
export function verifiedRun(streams: RunStream[], more: Partial<RunRecord> = {}): RunRecord {
  return runRecord('2026-10', streams, { ...MONTH, ...more });
}

/** Returns a run with two refuted streams, and one that vanished. */
export function refutedRun(): RunRecord {
  const gap = toStreamFinding('order/gap', 'prod/payments', 'entries 7 to 9 are missing', { from: 7, to: 9 });
  const edit = toStreamFinding('content/mismatch', 'prod/logins', 'the digest of entry 12 is not that of its content', {
    sequence: 12,
    expected: digestOf(1),
    actual: digestOf(2),
  });
  const vanished = toStreamFinding('continuity/stream-vanished', 'prod/gone', 'the service no longer lists the stream');
  const streams = [
    monthStream(1),
    monthStream(2, 'prod/payments', { status: 'refuted', findings: [gap], findings_count: 3 }, { order: 'refuted' }),
    monthStream(3, 'prod/logins', { status: 'refuted', findings: [edit], findings_count: 1 }, { content: 'refuted' }),
  ];
  return verifiedRun(streams, {
    outcome: 'refuted',
    exit_code: 1,
    vanished: [
      { stream_id: 'prod/gone', head: { sequence: 4, hash: DIGEST, run_id: '2026-09' }, entries: 4, finding: vanished },
    ],
  });
}

/** Returns a run with a partial, a failed, an empty and an excluded stream. */
export function partialRun(): RunRecord {
  const missing = [{ form: 'pdf', code: 'service' as const, reason: '503, after five attempts' }];
  const empty = { status: 'empty', entries: 0, first_sequence: null, head: null } as const;
  const none = { activity: { per: 'day' as const, counts: {}, undated: 0 }, actions: null };
  return verifiedRun(
    [
      monthStream(1),
      monthStream(2, 'prod/half', { status: 'incomplete', partial: true, missing }, { agreement: 'unproved' }),
      monthStream(3, 'prod/quiet', { ...empty, ...none }, { order: 'unproved' }),
    ],
    {
      outcome: 'incomplete',
      exit_code: 3,
      failed: [
        { stream_id: 'prod/dead', code: 'service', reason: 'no answer within 30 s', next_step: 'Run it again.' },
      ],
      excluded: [{ stream_id: 'prod/debug', pattern: '*/debug' }],
      stream_list: {
        pages: [],
        streams: ['prod/service-1', 'prod/half', 'prod/quiet', 'prod/dead', 'prod/debug'].map((stream_id, index) => ({
          stream_id,
          entries: [ENTRIES, ENTRIES, 0, 7, 5][index] ?? null,
          head: { sequence: null, hash: null },
        })),
      },
      reconciliation: {
        listed: 5,
        exported: 1,
        partial: 1,
        failed: 1,
        empty: 1,
        excluded: 1,
        supplements: NO_SUPPLEMENTS,
      },
    },
  );
}
