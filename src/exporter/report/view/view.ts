import { grouped } from '../../../core/plurals.ts';
import type { Rows } from '../../../core/rows/rows.ts';
import { DOES_NOT_PROVE } from '../../../verifier/bundle/documents.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import { latestOf } from '../../../verifier/records/coverage.ts';
import type { Reconciliation, RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { nextStepOf } from '../../next-steps.ts';
import { type Charts, toCharts } from './activity.ts';
import { type ClaimView, toClaims } from './claims.ts';
import { type FrameworkView, toFrameworks } from './controls.ts';
import { type Coverage, toCoverage } from './coverage.ts';
import { type CustodyStep, toCustody } from './custody.ts';
import { type Fact, toIpeFacts } from './facts.ts';
import { type Findings, toFindings } from './findings.ts';
import { type LateEntries, toLate } from './missing.ts';
import { type OutcomeView, type ReportKind, toOutcome } from './outcome.ts';
import { type Population, toPopulation } from './population.ts';
import { asSentence, sayExclusion } from './sentences.ts';
import { type StreamFact, toStreamFacts } from './stream-facts.ts';
import { type SupplementsView, toSupplements } from './supplements.ts';
import type { Texts } from './texts.ts';

/** Content of a run's reports, independent of their format and layout. */
export interface RunView {
  run: RunHead;
  outcome: OutcomeView;
  extent: Extent;
  provenance: { ipe: Fact[]; custody: CustodyStep[] };
  /** `supplements`: records of other services; null if none were to be collected. */
  proof: {
    claims: ClaimView[];
    findings: Findings;
    supplements: SupplementsView | null;
    doesNotProve: readonly string[];
  };
  charts: Charts;
  coverage: Coverage;
  frameworks: FrameworkView[];
  streams: { all: Rows<RunStream>; factsOf(stream: RunStream): StreamFact[] };
  /** Advice for the preparer of the export, not for its readers. */
  preparer: Advice[];
}

/** Identity of the run, its preparer and its requester. */
interface RunHead {
  runId: string;
  organisation: string | null;
  preparedBy: string | null;
  period: string;
  /** RFC 3339 time at which the run was frozen. */
  finishedAt: string;
  request: string | null;
  requestedBy: string | null;
  /** First warnings of the run. */
  notes: string[];
  /** False for the report of an attempt. */
  finalized: boolean;
}

/** Scope of the export: what was listed, received and missed. */
interface Extent {
  reconciliation: Reconciliation;
  entries: number;
  population: Population;
  /** Streams that are missing, incomplete or excluded, with reasons. */
  exceptions: Exception[];
  /** Number of exceptions beyond the limit. */
  moreExceptions: number;
  /** Entries dated in a month that was exported without them. */
  late: LateEntries[];
  moreLate: number;
}

interface Exception {
  kind: 'not exported' | 'partial' | 'unproved' | 'vanished' | 'ended' | 'excluded';
  streamId: string;
  reason: string;
}

/** Maximum number of rows in a table of exceptions. */
const MAX_SHOWN = 1000;

/**
 * Builds the view in steps, because each step takes a second for many thousands of streams. The same record and texts
 * yield the same view.
 */
// Over 40 lines: one step for each part of the view.
export function* makeRunView(record: RunRecord, kind: ReportKind, texts: Texts): Generator<void, RunView> {
  const finalized = kind === 'run';
  const { streams } = record;
  const { supplements: _supplements, ...reconciliation } = record.reconciliation;
  const exceptions = toExceptions(record);
  yield;
  const late = toLate(record);
  yield;
  const outcome = toOutcome(record, kind, texts);
  yield;
  const population = toPopulation(record, texts);
  yield;
  const ipe = toIpeFacts(record, texts);
  yield;
  const custody = toCustody(record, finalized, texts);
  yield;
  const claims = toClaims(record, texts);
  yield;
  const findings = toFindings(record, texts);
  yield;
  const charts = toCharts(record, texts);
  yield;
  const frameworks = toFrameworks(record);
  yield;
  const coverage = toCoverage(record, texts);
  yield;
  return {
    run: toHead(record, finalized),
    outcome,
    extent: {
      reconciliation,
      entries: streams.reduce((sum, stream) => sum + stream.entries, 0),
      population,
      exceptions: exceptions.slice(0, MAX_SHOWN),
      moreExceptions: Math.max(0, exceptions.length - MAX_SHOWN),
      late: late.slice(0, MAX_SHOWN),
      moreLate: Math.max(0, late.length - MAX_SHOWN),
    },
    provenance: { ipe, custody },
    proof: {
      claims,
      findings,
      supplements: toSupplements(record, texts),
      doesNotProve: DOES_NOT_PROVE,
    },
    charts,
    coverage,
    frameworks,
    streams: { all: streams, factsOf: (stream) => toStreamFacts(stream, record.period, texts) },
    preparer: toAdvice(record),
  };
}

function toHead(record: RunRecord, finalized: boolean): RunHead {
  return {
    runId: record.run_id,
    organisation: record.report.organisation,
    preparedBy: record.report.prepared_by,
    period: describePeriod(record.period, latestOf(record)),
    finishedAt: record.finished_at,
    request: record.scope.request,
    requestedBy: record.scope.requested_by,
    notes: notesOn(record.warnings),
    finalized,
  };
}

const NOTES = 3;

function notesOn(warnings: RunRecord['warnings']): string[] {
  const more = warnings.length - NOTES;
  return [
    ...warnings.slice(0, NOTES).map(({ message }) => asSentence(message)),
    ...(more > 0 ? [`And ${grouped(more)} more: see “Period and time zone”.`] : []),
  ];
}

function toExceptions({ failed, streams, vanished, ended, excluded }: RunRecord): Exception[] {
  const incomplete = streams.filter(({ partial, status }) => partial || status === 'incomplete');
  const exception = (kind: Exception['kind'], streamId: string, reason: string) => ({ kind, streamId, reason });
  return [
    ...failed.map(({ stream_id, reason }) => exception('not exported', stream_id, reason)),
    ...incomplete.map((stream) =>
      exception(stream.partial ? 'partial' : 'unproved', stream.stream_id, whyPartial(stream)),
    ),
    ...vanished.map(({ stream_id, finding }) => exception('vanished', stream_id, finding.message)),
    ...ended.map(({ stream_id, finding }) => exception('ended', stream_id, finding.message)),
    ...excluded.map(({ stream_id, pattern }) => exception('excluded', stream_id, sayExclusion(pattern))),
  ];
}

function whyPartial({ missing, claims, findings }: RunStream): string {
  if (missing.length > 0) return missing.map(({ form, reason }) => `the ${form} form is missing: ${reason}`).join('; ');
  const defect = findings.find(({ code }) => /^(package|contract)\//.test(code));
  if (defect !== undefined) return defect.message;
  const unproved = Object.entries(claims).filter(([, { state }]) => state === 'unproved');
  return unproved.map(([name, { reason }]) => `${name} is unproved: ${reason ?? 'no reason is recorded'}`).join('; ');
}

/** Next step for the preparer, and the streams that it concerns. */
interface Advice {
  step: string;
  about: string[];
  /** Number of further streams. */
  others: number;
}

const NAMED = 6;

/** Lists each next step once, with the streams that it concerns. */
function toAdvice({ failed, streams, vanished, ended }: RunRecord): Advice[] {
  const steps = [
    ...failed.map(({ stream_id, next_step }) => ({ step: next_step, about: `${stream_id}: not exported` })),
    ...[...[...vanished, ...ended].map(({ finding }) => finding), ...streams.flatMap(({ findings }) => findings)].map(
      (finding) => ({ step: nextStepOf(finding), about: `${finding.stream_id}: ${finding.code}` }),
    ),
  ];
  return [...Map.groupBy(steps, ({ step }) => step)].map(([step, all]) => {
    const about = [...new Set(all.map((one) => one.about))];
    return { step, about: about.slice(0, NAMED), others: Math.max(0, about.length - NAMED) };
  });
}
