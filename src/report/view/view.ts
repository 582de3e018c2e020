import { DOES_NOT_PROVE } from '../../bundle/documents.ts';
import type { Reconciliation, RunRecord, RunStream } from '../../ledger/record.ts';
import { type Charts, toCharts } from './activity.ts';
import { type ClaimView, toClaims } from './claims.ts';
import { type FrameworkView, toFrameworks } from './controls.ts';
import { type Coverage, toCoverage } from './coverage.ts';
import { type CustodyStep, toCustody } from './custody.ts';
import { describePeriod, type Fact, toIpeFacts } from './facts.ts';
import { type Findings, toFindings } from './findings.ts';
import { type OutcomeView, toOutcome } from './outcome.ts';
import type { Texts } from './texts.ts';

/** A run as its reports show it, whatever they are set in: everything that is said, and nothing of how it looks. */
export interface RunView {
  runId: string;
  organisation: string | null;
  period: string;
  /** RFC 3339: when the run was closed. */
  finishedAt: string;
  request: string | null;
  requestedBy: string | null;
  /** False for the report of an attempt. */
  sealed: boolean;
  outcome: OutcomeView;
  reconciliation: Reconciliation;
  entries: number;
  ipe: Fact[];
  /** Streams that are not there as they should be, and why. */
  exceptions: Exception[];
  claims: ClaimView[];
  charts: Charts;
  coverage: Coverage;
  findings: Findings;
  custody: CustodyStep[];
  doesNotProve: readonly string[];
  frameworks: FrameworkView[];
  streams: RunStream[];
}

export interface Exception {
  kind: 'not exported' | 'partial' | 'vanished' | 'excluded';
  streamId: string;
  reason: string;
  nextStep: string | null;
}

/** Pure: the same record and texts give the same view. */
export function toRunView(record: RunRecord, sealed: boolean, texts: Texts): RunView {
  const { scope, streams } = record;
  return {
    runId: record.run_id,
    organisation: record.report.organisation,
    period: describePeriod(record.period),
    finishedAt: record.finished_at,
    request: scope.request,
    requestedBy: scope.requested_by,
    sealed,
    outcome: toOutcome(record, sealed, texts),
    reconciliation: record.reconciliation,
    entries: streams.reduce((sum, stream) => sum + stream.entries, 0),
    ipe: toIpeFacts(record, texts),
    exceptions: toExceptions(record),
    claims: toClaims(streams, scope.required_claims, texts),
    charts: toCharts(record, texts),
    coverage: toCoverage(record),
    findings: toFindings(record, texts),
    custody: toCustody(record, sealed, texts),
    doesNotProve: DOES_NOT_PROVE,
    frameworks: toFrameworks(record),
    streams,
  };
}

function toExceptions({ failed, streams, vanished, excluded }: RunRecord): Exception[] {
  return [
    ...failed.map(
      ({ stream_id, reason, next_step }): Exception => ({
        kind: 'not exported',
        streamId: stream_id,
        reason,
        nextStep: next_step,
      }),
    ),
    ...streams
      .filter(({ partial, status }) => partial || status === 'incomplete')
      .map(
        (stream): Exception => ({
          kind: 'partial',
          streamId: stream.stream_id,
          reason: whyPartial(stream),
          nextStep: null,
        }),
      ),
    ...vanished.map(
      ({ stream_id, finding }): Exception => ({
        kind: 'vanished',
        streamId: stream_id,
        reason: finding.message,
        nextStep: finding.next_step,
      }),
    ),
    ...excluded.map(
      ({ stream_id, reason }): Exception => ({ kind: 'excluded', streamId: stream_id, reason, nextStep: null }),
    ),
  ];
}

function whyPartial({ missing, claims, findings }: RunStream): string {
  if (missing.length > 0) return missing.map(({ form, reason }) => `the ${form} form is missing: ${reason}`).join('; ');
  const defect = findings.find(({ code }) => /^(package|contract)\//.test(code));
  if (defect !== undefined) return defect.message;
  const unproved = Object.entries(claims).filter(([, { state }]) => state === 'unproved');
  return unproved.map(([name, { reason }]) => `${name} is unproved: ${reason ?? 'no reason is recorded'}`).join('; ');
}
