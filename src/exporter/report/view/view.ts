import { grouped } from '../../../core/plurals.ts';
import type { Rows } from '../../../core/rows/rows.ts';
import { DOES_NOT_PROVE } from '../../../verifier/bundle/documents.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import { latestOf } from '../../../verifier/records/coverage.ts';
import type { Reconciliation, RunRecord, RunStream } from '../../../verifier/records/record.ts';
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
import { asSentence } from './sentences.ts';
import { type StreamFact, toStreamFacts } from './stream-facts.ts';
import { type SupplementsView, toSupplements } from './supplements.ts';
import type { Texts } from './texts.ts';

/** A run as its reports show it, whatever they are set in: everything that is said, and nothing of how it looks. */
export interface RunView {
  run: RunHead;
  outcome: OutcomeView;
  extent: Extent;
  provenance: { ipe: Fact[]; custody: CustodyStep[] };
  /** `supplements`: what other services showed; null where nothing was to be collected from them. */
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
  /** For who exported, not for who reads. */
  preparer: Advice[];
}

/** The identity of the run, its preparer and its recipient. */
interface RunHead {
  runId: string;
  organisation: string | null;
  preparedBy: string | null;
  period: string;
  /** RFC 3339: when the run was frozen. */
  finishedAt: string;
  request: string | null;
  requestedBy: string | null;
  /** The first of its warnings. */
  notes: string[];
  /** False for the report of an attempt. */
  finalized: boolean;
}

/** The exported part of the whole. */
interface Extent {
  reconciliation: Reconciliation;
  entries: number;
  population: Population;
  /** Streams that are not there as they should be, and why. */
  exceptions: Exception[];
  /** The number of the others. */
  moreExceptions: number;
  /** Entries that are dated into a month which was exported without them. */
  late: LateEntries[];
  moreLate: number;
}

interface Exception {
  kind: 'not exported' | 'partial' | 'unproved' | 'vanished' | 'ended' | 'excluded';
  streamId: string;
  reason: string;
}

/** Rows of a table of exceptions. */
const MAX_SHOWN = 1000;

/** Makes the view in steps, the same for the same record and texts: of many thousands of streams each takes a second. */
// Over 40 lines: a step for each part of the view.
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

function notesOn(warnings: readonly string[]): string[] {
  const more = warnings.length - NOTES;
  return [
    ...warnings.slice(0, NOTES).map(asSentence),
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
    ...excluded.map(({ stream_id, reason }) => exception('excluded', stream_id, reason)),
  ];
}

function whyPartial({ missing, claims, findings }: RunStream): string {
  if (missing.length > 0) return missing.map(({ form, reason }) => `the ${form} form is missing: ${reason}`).join('; ');
  const defect = findings.find(({ code }) => /^(package|contract)\//.test(code));
  if (defect !== undefined) return defect.message;
  const unproved = Object.entries(claims).filter(([, { state }]) => state === 'unproved');
  return unproved.map(([name, { reason }]) => `${name} is unproved: ${reason ?? 'no reason is recorded'}`).join('; ');
}

/** A next step of who exported, and what it is about. */
interface Advice {
  step: string;
  about: string[];
  /** The number of the others. */
  others: number;
}

const NAMED = 6;

/** Each step once, with what it is about. */
function toAdvice({ failed, streams, vanished, ended }: RunRecord): Advice[] {
  const steps = [
    ...failed.map(({ stream_id, next_step }) => ({ step: next_step, about: `${stream_id}: not exported` })),
    ...[...[...vanished, ...ended].map(({ finding }) => finding), ...streams.flatMap(({ findings }) => findings)].map(
      ({ stream_id, code, next_step }) => ({ step: next_step, about: `${stream_id}: ${code}` }),
    ),
  ];
  return [...Map.groupBy(steps, ({ step }) => step)].map(([step, all]) => {
    const about = [...new Set(all.map((one) => one.about))];
    return { step, about: about.slice(0, NAMED), others: Math.max(0, about.length - NAMED) };
  });
}
