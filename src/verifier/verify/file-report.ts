import { asReadBack, type ReportedVerdict, withRecorded } from '../claims/recorded.ts';
import type { Verdict } from '../claims/verdict.ts';
import type { ContractUse } from '../reading/in-use.ts';
import { EXIT_CODE_OF, type VerifiedOutcome, worstOf } from '../records/outcome.ts';
import type { VerifiedBundle } from './content.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

/** Result for a bundle or a package verified by itself: the document that `evidence verify --json` prints. */
export interface FileReport {
  /** `verified` if everything required is proved; `refuted` if anything is wrong. */
  outcome: VerifiedOutcome;
  /** Exit code of `evidence verify`. */
  exit_code: number;
  /** Run that made the bundle; null for a package. */
  run_id: string | null;
  /** Requested period of the bundle; null for a package. */
  period: { from: string | null; to: string | null } | null;
  /** The bundle's stream, or all streams of a package. */
  streams: StreamReport[];
  /** Faults of the bundle itself: altered, added or removed bytes. */
  findings: ObjectFinding[];
  warnings: string[];
  /** Contracts by which it was read. */
  contracts: ContractUse[];
}

/** Claims of a stream with states and reasons, and its findings. */
export type StreamReport = ReportedVerdict & { bundle: { key: string; identity: string | null } | null };

const UNSIGNED =
  'Internal consistency only: a bundle by itself is not signed, so whoever can replace it can replace it unseen.';

/** @param name name of the bundle in findings. */
export function reportOfBundle(verified: VerifiedBundle, name: string): FileReport {
  const { judged, findings: found, identity } = verified;
  const verdict = reportAlone(verified);
  const isEmpty = verdict === null && found.length === 0;
  const findings = isEmpty
    ? [toObjectFinding('object/unreadable', name, 'holds no verdict and nothing to judge')]
    : found;
  const statuses = [
    ...(verdict === null ? [] : [verdict.status]),
    ...(judged === null ? [] : [judged.stated.verdict.status]),
  ];
  const outcome = findings.length > 0 ? 'refuted' : worstOf(statuses);
  return {
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    run_id: judged?.stated.run_id ?? null,
    period: judged?.stated.period ?? null,
    streams: verdict === null ? [] : [{ ...verdict, status: outcome, bundle: { key: name, identity } }],
    findings,
    warnings: [UNSIGNED],
    contracts: judged === null ? [] : [judged.contract],
  };
}

/** Members that a package or a damaged file leaves empty. */
const NOTHING = { run_id: null, period: null, streams: [], findings: [], warnings: [], contracts: [] };

/** @returns null for JSON that is no package, because it has no list of entries. */
export function reportOfPackage(verdicts: readonly Verdict[], contract: ContractUse): FileReport | null {
  if (verdicts.every(lacksEntries)) return null;
  const outcome = worstOf(verdicts.map((verdict) => verdict.status));
  const streams = verdicts.map((verdict) => ({ ...verdict, bundle: null }));
  return { ...NOTHING, outcome, exit_code: EXIT_CODE_OF[outcome], streams, contracts: [contract] };
}

/** Returns the report on a file that cannot be read at all. */
export function reportDamage(findings: ObjectFinding[]): FileReport {
  return { ...NOTHING, outcome: 'refuted', exit_code: EXIT_CODE_OF.refuted, findings };
}

/** Reports whether the JSON is complete but has no entries at the place of a package. */
function lacksEntries({ stream_id, entries, findings }: Verdict): boolean {
  return stream_id === '' && entries === 0 && findings[0]?.code === 'package/no-entries';
}

/** Reason why the service's statements in a bundle prove nothing here. */
export const NOT_VOUCHED = 'nothing here shows that the service said so';
const WITHOUT_RUNS = 'the earlier runs are not here to compare with';

/** Returns the verdict on a bundle verified by itself; null if it holds nothing to judge. */
export function reportAlone({ judged }: VerifiedBundle): ReportedVerdict | null {
  if (judged === null) return null;
  const { verdict, stated, required } = judged;
  const reported = withRecorded(verdict, stated.verdict);
  return asReadBack(reported, { continuity: WITHOUT_RUNS, completeness: NOT_VOUCHED }, required);
}
