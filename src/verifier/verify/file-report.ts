import { asReadBack, type ReportedVerdict, withRecorded } from '../claims/recorded.ts';
import type { Verdict } from '../claims/verdict.ts';
import type { ContractUse } from '../reading/in-use.ts';
import { EXIT_CODE_OF, type VerifiedOutcome, worstOf } from '../records/outcome.ts';
import type { VerifiedBundle } from './content.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

/** The result for a bundle or a package that was verified by itself: the document that `evidence verify --json` prints. */
export interface FileReport {
  /** `verified` where all is proved that had to be; `refuted` where one thing is not as it should be. */
  outcome: VerifiedOutcome;
  /** The exit code of `evidence verify`. */
  exit_code: number;
  /** For a bundle: the run in which it was made. */
  run_id: string | null;
  /** For a bundle: the period that it was asked for. */
  period: { from: string | null; to: string | null } | null;
  /** One of a bundle; of a package each that it holds. */
  streams: StreamReport[];
  /** Faults in the bundle itself: bytes that were altered, added or taken away. */
  findings: ObjectFinding[];
  warnings: string[];
  /** Each contract that it was read by. */
  contracts: ContractUse[];
}

/** A stream: its claims, each with its state and reason, and what was found. */
export type StreamReport = ReportedVerdict & { bundle: { key: string; identity: string | null } | null };

const UNSIGNED =
  'Internal consistency only: a bundle by itself is not signed, so whoever can replace it can replace it unseen.';

/** @param name how the bundle is called in findings. */
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

/** @returns null for JSON that is no package: it has no list of entries. */
export function reportOfPackage(verdicts: readonly Verdict[], contract: ContractUse): FileReport | null {
  if (verdicts.every(lacksEntries)) return null;
  const outcome = worstOf(verdicts.map((verdict) => verdict.status));
  return {
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    run_id: null,
    period: null,
    streams: verdicts.map((verdict) => ({ ...verdict, bundle: null })),
    findings: [],
    warnings: [],
    contracts: [contract],
  };
}

/** Reports a file that cannot be read at all. */
export function reportDamage(findings: ObjectFinding[]): FileReport {
  return {
    outcome: 'refuted',
    exit_code: EXIT_CODE_OF.refuted,
    run_id: null,
    period: null,
    streams: [],
    findings,
    warnings: [],
    contracts: [],
  };
}

/** True if JSON that is whole has no entries where packages have them. */
function lacksEntries({ stream_id, entries, findings }: Verdict): boolean {
  return stream_id === '' && entries === 0 && findings[0]?.code === 'package/no-entries';
}

/** Nobody vouches for what a bundle says that the service said. */
export const NOT_VOUCHED = 'nothing here shows that the service said so';
const WITHOUT_RUNS = 'the earlier runs are not here to compare with';

/** The verdict on a bundle that is verified by itself; null where it holds nothing to judge. */
export function reportAlone({ judged }: VerifiedBundle): ReportedVerdict | null {
  if (judged === null) return null;
  const { verdict, stated, required } = judged;
  const reported = withRecorded(verdict, stated.verdict);
  return asReadBack(reported, { continuity: WITHOUT_RUNS, completeness: NOT_VOUCHED }, required);
}
