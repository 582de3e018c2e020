import type { Archive } from '../archive/archive.ts';
import { sha256 } from '../encoding/digest.ts';
import { isEvidenceError } from '../errors.ts';
import { toEarlierRun } from '../ledger/earlier-runs.ts';
import { runIdOf, runRecordKey } from '../ledger/keys.ts';
import { type LedgerHead, runOf } from '../ledger/ledger.ts';
import { EXIT_CODE_OF, type Outcome, worstOf } from '../ledger/outcome.ts';
import { attemptSchema, type RunRecord, readRecord } from '../ledger/record.ts';
import type { StampVerdict } from '../ledger/stamps.ts';
import type { PublicKey } from '../signature/key.ts';
import type { VerifyOptions } from './bundle.ts';
import { checkLedger, type Ledger, readLedger } from './ledger.ts';
import { type Problem, toProblem } from './problem.ts';
import { type RunCheck, type RunContext, type VerifiedStream, verifyRun } from './run.ts';
import {
  checkLedgerSignatures,
  judgeSignatures,
  type Keyring,
  readKeyring,
  type SignatureReport,
} from './signatures.ts';

export interface ArchiveReport {
  outcome: Outcome;
  exit_code: number;
  runs: RunReport[];
  ledger: { entries: number; state: 'intact' | 'broken'; findings: Problem[] };
  signatures: SignatureReport;
  objects: { checked: number; missing: Problem[]; altered: Problem[]; unlocked: Problem[]; unexpected: Problem[] };
  warnings: string[];
}

export interface RunReport {
  run_id: string;
  outcome: Outcome;
  exit_code: number;
  period: RunRecord['period'] | null;
  reconciliation: RunRecord['reconciliation'] | null;
  streams: (VerifiedStream['verdict'] & { bundle: VerifiedStream['bundle'] })[];
  /** Id of the key whose signature on the run's statement holds, whoever's key that is. */
  signed_by: string | null;
  stamps: StampVerdict[];
  problems: Problem[];
}

/** Whom and what the reader trusts. */
export interface ArchiveOptions extends VerifyOptions, Pick<RunContext, 'stampRoots'> {
  /** An archive must be signed with one of these if there are any. */
  publicKeys: readonly PublicKey[];
}

const MAX_ATTEMPT_BYTES = 2 ** 30;
/** What an interruption may leave of a run. */
const OF_OPEN_RUN =
  /^runs\/[^/]+\/(streams\/[^/]+\.(zip|json)|closing\.json|report\.(pdf|html)|index\.csv|assessment-results\.json)$/;

/**
 * Verifies an archive, or one run of it: the ledger's chain, every run it records, every object there is.
 * @param only the run to verify; the others count only as far as the ledger goes.
 */
export async function verifyArchive(
  context: ArchiveOptions & Pick<RunContext, 'archive' | 'workDirectory' | 'onStream'>,
  only: string | null = null,
): Promise<ArchiveReport> {
  const { archive, publicKeys } = context;
  const keys = new Set<string>();
  for await (const { key } of archive.list('')) keys.add(key);
  const ledger = await readLedger(archive, keys);
  const keyring = await readKeyring(archive, keys, publicKeys);
  const heads = new Map<string, Map<string, LedgerHead>>();
  for (const { entry } of ledger.entries) {
    const run = runOf(entry);
    if (run !== null) heads.set(run.id, headsOf(run.id, entry.heads));
  }
  const headOf: RunContext['headOf'] = (runId, streamId) => heads.get(runId)?.get(streamId);
  const sealed = [...new Set([...keys].map(runIdOf))].filter(
    (runId): runId is string => runId !== null && keys.has(runRecordKey(runId)) && (only === null || runId === only),
  );
  const checks: RunCheck[] = [];
  for (const runId of sealed) checks.push(await verifyRun({ ...context, headOf, keyring }, runId));
  const findings = [...ledger.problems, ...checkLedger(ledger, checks, only), ...checkEarlierRuns(checks)];
  const unsigned = [...keyring.problems, ...checkLedgerSignatures(ledger.entries, keyring)];
  const warnings = [
    ...openRuns(keys, only).map(
      (runId) => `Run ${runId} was begun but not sealed; the same export command resumes it.`,
    ),
    ...checks.flatMap((check) => check.witnesses?.warnings ?? []),
  ];
  const accounted = new Set([...ledger.keys, ...keyring.keys, ...checks.flatMap((check) => [...check.accounted])]);
  const stray = await findUnexpected(archive, keys, accounted, warnings, only);
  const open = openRuns(keys, only);
  return toReport({ checks, findings, keyring, unsigned, stray, warnings, checked: accounted.size, ledger, open });
}

function headsOf(runId: string, heads: Record<string, LedgerHead>): Map<string, LedgerHead> {
  return new Map(Object.entries(heads).filter(([, head]) => head.run_id === runId));
}

function openRuns(keys: ReadonlySet<string>, only: string | null): string[] {
  const begun = new Set([...keys].map(runIdOf).filter((runId): runId is string => runId !== null));
  return [...begun].filter((runId) => !keys.has(runRecordKey(runId)) && (only === null || runId === only)).sort();
}

/** What records say of the runs before them must be what these say of themselves. */
function checkEarlierRuns(checks: readonly RunCheck[]): Problem[] {
  const own = new Map(
    checks.flatMap(({ runId, record }) => (record === null ? [] : [[runId, JSON.stringify(toEarlierRun(record))]])),
  );
  return checks.flatMap(({ runId, record }) =>
    (record?.earlier_runs ?? [])
      .filter((earlier) => own.has(earlier.run_id) && own.get(earlier.run_id) !== JSON.stringify(earlier))
      .map(({ run_id }) =>
        toProblem('record/differs', runRecordKey(runId), `says of run ${run_id} what its record does not`),
      ),
  );
}

/** Objects that nothing accounts for. What an interrupted run or an attempt left is accounted for by the run's name. */
async function findUnexpected(
  archive: Archive,
  keys: ReadonlySet<string>,
  accounted: ReadonlySet<string>,
  warnings: string[],
  only: string | null,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const key of keys) {
    if (accounted.has(key)) continue;
    const runId = runIdOf(key);
    if (only !== null && runId !== only) continue;
    if (runId !== null && /^runs\/[^/]+\/attempts\/[^/]+\/[^/]+$/.test(key)) {
      problems.push(...(await checkAttempt(archive, key, keys, warnings)));
      continue;
    }
    if (runId !== null && !keys.has(runRecordKey(runId)) && OF_OPEN_RUN.test(key)) continue;
    problems.push(toProblem('object/unexpected', key, 'is there, but nothing records it'));
  }
  return problems;
}

/** A bundle of an attempt must be the one that the attempt's record names. */
async function checkAttempt(
  archive: Archive,
  key: string,
  keys: ReadonlySet<string>,
  warnings: string[],
): Promise<Problem[]> {
  const recordKey = key.replace(/[^/]+$/, 'attempt.json');
  if (!keys.has(recordKey)) {
    warnings.push(`${key} was left by a try that was interrupted before it could record it.`);
    return [];
  }
  try {
    const attempt = readRecord(attemptSchema, await archive.readBytes(recordKey, MAX_ATTEMPT_BYTES), recordKey);
    if (key === recordKey) return [];
    const named = [...attempt.incomplete.map(({ bundle }) => bundle), ...attempt.documents];
    const stated = named.find((object) => object.key === key);
    if (stated === undefined)
      return [toProblem('object/unexpected', key, `is there, but ${recordKey} does not name it`)];
    const actual = sha256(await archive.readBytes(key, stated.bytes + 1));
    if (actual === stated.sha256) return [];
    return [
      toProblem('object/altered', key, `its SHA-256 is not the one in ${recordKey}`, {
        expected: stated.sha256,
        actual,
      }),
    ];
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    return [toProblem('object/unreadable', key, error.message)];
  }
}

interface Parts {
  checks: RunCheck[];
  findings: Problem[];
  keyring: Keyring;
  /** What is wrong with the keys and with the signatures of the ledger. */
  unsigned: Problem[];
  stray: Problem[];
  warnings: string[];
  checked: number;
  ledger: Ledger;
  open: string[];
}

function toReport({
  checks,
  findings,
  keyring,
  unsigned,
  stray,
  warnings,
  checked,
  ledger,
  open,
}: Parts): ArchiveReport {
  const problems = [...checks.flatMap((check) => check.problems), ...findings, ...unsigned, ...stray];
  const outcome =
    problems.length > 0
      ? 'refuted'
      : worstOf([...checks.map((check) => check.outcome), ...open.map(() => 'incomplete' as const)]);
  return {
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    runs: checks.map(toRunReport),
    ledger: { entries: ledger.entries.length, state: findings.length > 0 ? 'broken' : 'intact', findings },
    signatures: judgeSignatures(keyring, ledger.entries, problems),
    objects: {
      checked,
      missing: problems.filter(({ code }) => code === 'object/missing'),
      altered: problems.filter(
        ({ code }) => !/^(object\/missing|object\/unexpected|signature\/.*|stamp\/.*)$/.test(code),
      ),
      unlocked: [],
      unexpected: problems.filter(({ code }) => code === 'object/unexpected'),
    },
    warnings,
  };
}

function toRunReport(check: RunCheck): RunReport {
  return {
    run_id: check.runId,
    outcome: check.outcome,
    exit_code: EXIT_CODE_OF[check.outcome],
    period: check.record?.period ?? null,
    reconciliation: check.record?.reconciliation ?? null,
    streams: check.streams.map(({ verdict, bundle }) => ({ ...verdict, bundle })),
    signed_by: check.witnesses?.signedBy ?? null,
    stamps: check.witnesses?.stamps ?? [],
    problems: check.problems,
  };
}
