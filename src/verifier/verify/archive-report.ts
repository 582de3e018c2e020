import type { ContractUse } from '../reading/in-use.ts';
import type { StoredHoldRecord, StoredShare } from '../records/hold-log.ts';
import { LEDGER_PREFIX } from '../records/keys.ts';
import type { MonthReport } from '../records/month-report.ts';
import { EXIT_CODE_OF, type VerifiedOutcome } from '../records/outcome.ts';
import type { Acceptance, Exclusion, RunRecord, StreamFailure, Vanished } from '../records/record.ts';
import type { StampVerdict } from '../records/stamps.ts';
import type { ArchiveReading } from './archive-reading.ts';
import type { HoldLogCheck, RestampCheck } from './hold-log.ts';
import type { LockReport } from './locks.ts';
import { type ObjectFinding, worstWith } from './object-finding.ts';
import type { ServiceReport } from './one-service.ts';
import { isUnfinished, type OpenRun } from './open-runs.ts';
import type { RunCheck } from './run.ts';
import { judgeSignatures, type SignatureReport } from './signature-report.ts';
import type { VerifiedStream } from './stream.ts';
import { countedOutcomes } from './superseded.ts';
import type { SupplementsCheck } from './supplements-check.ts';

// Over ten members: the document that `evidence verify --json` prints.
export interface ArchiveReport {
  outcome: VerifiedOutcome;
  exit_code: number;
  runs: RunReport[];
  /** Runs that are unfinished, and runs that were given up. */
  open_runs: OpenRun[];
  ledger: { entries: number; state: 'intact' | 'broken' | 'closed'; findings: ObjectFinding[] };
  /** Service whose evidence the archive holds; null if it holds none. */
  service: ServiceReport | null;
  /** Acceptances that streams ended or restarted, oldest first. */
  acceptances: Omit<Acceptance, 'format'>[];
  /** Coverage of each month since the first run, as far as it has ended; empty if only some runs were verified. */
  months: MonthReport[];
  /** Runs that contradict each other, or leave entries between them in no run. */
  history: ObjectFinding[];
  signatures: SignatureReport;
  objects: {
    checked: number;
    missing: ObjectFinding[];
    altered: ObjectFinding[];
    unlocked: ObjectFinding[];
    unexpected: ObjectFinding[];
    /** Objects that this user may not read; they refute nothing. */
    closed: ObjectFinding[];
  };
  locks: Omit<LockReport, 'findings'>;
  warnings: string[];
  /** Contracts by which the bundles were read. */
  contracts: ContractUse[];
}

// Over ten members: a run in that document.
export interface RunReport {
  run_id: string;
  outcome: VerifiedOutcome;
  exit_code: number;
  /** Later run that replaces this one; null if this run counts itself. */
  superseded_by: string | null;
  period: RunRecord['period'] | null;
  reconciliation: RunRecord['reconciliation'] | null;
  streams: (VerifiedStream['verdict'] & Pick<VerifiedStream, 'bundle' | 'attested' | 'encrypted'>)[];
  /**
   * Streams exported by earlier runs that are gone. Recorded by the run, except for the next step of those accepted
   * since.
   */
  vanished: Vanished[];
  /** Streams whose end or restart was accepted, and that are not listed. Recorded like `vanished`. */
  ended: Vanished[];
  failed: StreamFailure[];
  excluded: Exclusion[];
  /** Evidence of other services and its state; null if none was collected. */
  supplements: SupplementsCheck | null;
  /** Records of changes to the run's protection. */
  hold_log: ReturnType<typeof toHoldReport>[];
  /** Recipients of shared copies. */
  shares: ReturnType<typeof toShareReport>[];
  /** Id of the key whose valid signature is on the run's statement, trusted or not. */
  signed_by: string | null;
  stamps: StampVerdict[];
  /** Records of new time-stamps and who ordered them. */
  restamps: RestampCheck['restamps'];
  findings: ObjectFinding[];
}

/** Findings by the place where they were found. */
export interface ArchiveFindings {
  ledger: ObjectFinding[];
  history: ObjectFinding[];
  /** Findings about keys and the signatures of the ledger. */
  signatures: ObjectFinding[];
  /** Findings about objects outside the runs and the ledger. */
  stray: ObjectFinding[];
}

/** Parts from which a report is made. */
interface Parts {
  checks: RunCheck[];
  reading: Pick<ArchiveReading, 'ledger' | 'keyring' | 'holdLog' | 'service'>;
  found: ArchiveFindings;
  locks: LockReport;
  warnings: string[];
  checked: number;
  open: OpenRun[];
  months: MonthReport[];
}

export function toReport(parts: Parts): ArchiveReport {
  const { checks, reading, found, locks, warnings, checked, open, months } = parts;
  const { ledger, keyring, holdLog, service } = reading;
  const { findings: unlocked, ...lockReport } = locks;
  const acceptances = acceptancesIn(ledger);
  const findings = findingsIn(parts);
  const isUnmet = locks.unmet || open.some(isUnfinished);
  const unmet = isUnmet ? ['incomplete' as const] : [];
  const outcome = worstWith(findings, [...countedOutcomes(checks), ...unmet]);
  const isClosed = findings.some(({ code, key }) => code === 'object/closed' && key.startsWith(LEDGER_PREFIX));
  return {
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    service: service.service,
    runs: checks.map((check) => toRunReport(check, holdLog.get(check.runId), acceptances)),
    open_runs: open,
    acceptances,
    months,
    ledger: {
      entries: ledger.entries.length,
      state: found.ledger.length > 0 ? 'broken' : isClosed ? 'closed' : 'intact',
      findings: found.ledger,
    },
    history: found.history,
    signatures: judgeSignatures(keyring, ledger.entries, findings),
    objects: {
      checked,
      missing: findings.filter(({ code }) => code === 'object/missing'),
      altered: findings.filter(({ code }) => !ELSEWHERE.test(code)),
      unlocked,
      unexpected: findings.filter(({ code }) => UNEXPECTED.test(code)),
      closed: findings.filter(({ code }) => code === 'object/closed'),
    },
    // The findings are listed with the others.
    locks: lockReport,
    warnings,
    contracts: contractsOf(checks),
  };
}

function findingsIn({ checks, found, locks }: Parts): ObjectFinding[] {
  return [
    ...checks.flatMap((check) => check.findings),
    ...found.ledger,
    ...found.history,
    ...found.signatures,
    ...found.stray,
    ...locks.findings,
  ];
}

function contractsOf(checks: readonly RunCheck[]): ContractUse[] {
  const used = checks.flatMap(({ streams }) => streams.flatMap(({ contract }) => contract ?? []));
  return [...new Map(used.map((contract) => [JSON.stringify(contract), contract])).values()];
}

/** Codes of unexpected objects. A version stored over an object is one, whatever the object's own state. */
const UNEXPECTED = /^object\/(unexpected|covered)$/;
/** Codes that do not mean that an object was altered. */
const ELSEWHERE = /^(object\/(missing|unexpected|covered|unlocked|closed)|history\/.*|signature\/.*|stamp\/.*)$/;

function acceptancesIn({ acceptances }: ArchiveReading['ledger']): ArchiveReport['acceptances'] {
  return [...acceptances.values()].map(({ record: { format: _format, ...accepted } }) => accepted);
}

/** Advises otherwise on a stream whose end was accepted since. */
function toVanishedReport({ finding, ...vanished }: Vanished, acceptances: ArchiveReport['acceptances']): Vanished {
  const { stream_id: streamId, head } = vanished;
  const accepted = acceptances.find((one) => one.stream_id === streamId && one.head.hash === head.hash);
  if (accepted === undefined) return { ...vanished, finding };
  const { accepted_at, accepted_by } = accepted;
  const advice = { code: 'judge_acceptance', accepted_at, accepted_by: accepted_by.user } as const;
  return { ...vanished, finding: { ...finding, advice } };
}

function toRunReport(
  check: RunCheck,
  kept: HoldLogCheck | undefined,
  acceptances: ArchiveReport['acceptances'],
): RunReport {
  return {
    run_id: check.runId,
    outcome: check.outcome,
    exit_code: EXIT_CODE_OF[check.outcome],
    superseded_by: check.supersededBy,
    period: check.record?.period ?? null,
    reconciliation: check.record?.reconciliation ?? null,
    streams: check.streams.map(({ verdict, bundle, attested, encrypted }) => ({
      ...verdict,
      bundle,
      attested,
      encrypted,
    })),
    vanished: (check.record?.vanished ?? []).map((vanished) => toVanishedReport(vanished, acceptances)),
    ended: [...(check.record?.ended ?? [])],
    failed: [...(check.record?.failed ?? [])],
    excluded: [...(check.record?.excluded ?? [])],
    supplements: check.supplements,
    hold_log: (kept?.holdLog ?? []).map(toHoldReport),
    shares: (kept?.shares ?? []).map(toShareReport),
    signed_by: check.attestations?.signedBy ?? null,
    stamps: check.attestations?.stamps ?? [],
    restamps: check.attestations?.restamps ?? [],
    findings: check.findings,
  };
}

function toHoldReport({ key, record, result }: StoredHoldRecord) {
  const { action, reason, ordered_by, ordered_at, retain_until } = record;
  const ended = { outcome: result?.outcome ?? 'open', ended_at: result?.ended_at ?? null };
  return { key, action, reason, ordered_by, ordered_at, retain_until, ...ended };
}

function toShareReport({ key, record }: StoredShare) {
  const { shared_with, shared_by, shared_at, form, expires_at, objects } = record;
  return { key, shared_with, shared_by, shared_at, form, expires_at, objects: objects.length };
}
