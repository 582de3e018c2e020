import { agree, plural } from '../../core/plurals.ts';
import type { StoredObject } from '../archive/archive.ts';
import { compareKeys } from '../archive/key.ts';
import { asReadBack } from '../claims/recorded.ts';
import { toEarlierRun } from '../ledger/earlier-runs.ts';
import type { StoredLedgerEntry } from '../ledger/ledger.ts';
import { refuseOtherVersion } from '../ledger/version.ts';
import { coverMonths } from '../records/coverage.ts';
import { LEDGER_PREFIX, runIdOf, runRecordKey } from '../records/keys.ts';
import { type MonthReport, toMonthReport } from '../records/month-report.ts';
import { disagreementsIn } from '../records/run-algebra.ts';
import { type ArchiveContext, type ArchiveReading, readArchive } from './archive-reading.ts';
import { type ArchiveFindings, type ArchiveReport, toReport } from './archive-report.ts';
import { withBeginnings } from './beginnings.ts';
import type { History } from './history.ts';
import { checkLedger, type InScope } from './ledger.ts';
import { type LockReport, verifyLocks } from './locks.ts';
import { type ObjectFinding, recordDiffers } from './object-finding.ts';
import { findRemovedEntries, openRunsIn } from './open-runs.ts';
import { outcomeOf, type RunCheck } from './run.ts';
import { warnOfUnusedKeys } from './signature-report.ts';
import { checkLedgerSignatures, checkUnsignedRuns } from './signatures.ts';
import type { RunContext, VerifiedStream } from './stream.ts';
import { settleSuperseded } from './superseded.ts';
import { withoutProofsOf } from './supplements-check.ts';
import { findUnexpected } from './unexpected.ts';
import { checkListing, checkVersions } from './versions.ts';

/**
 * Verifies an archive, or some of its runs: the chain of the ledger, every recorded run, every object, and that each
 * object is locked as it was.
 * @param only run to verify; the other runs count only as far as the ledger goes.
 * @throws EvidenceError `config` if another version wrote the archive.
 */
export async function verifyArchive(context: ArchiveContext, only: string | null = null): Promise<ArchiveReport> {
  const { archive, from = null } = context;
  await refuseOtherVersion(archive);
  const inScope = (runId: string) =>
    (only === null || runId === only) && (from === null || compareKeys(runId, from) >= 0);
  const isAll = only === null && from === null;
  const reading = await readArchive(context, inScope);
  const { keys, ledger, history, checks, givenUp } = reading;
  const open = openRunsIn(reading, inScope);
  const accounted = accountedIn(reading);
  const isEvidence: InScope = (runId) => inScope(runId) && !givenUp.has(runId);
  const scoped = [...reading.objects.values()].filter(({ key }) => isOf(key, inScope, isAll));
  const stored = checkObjects(context, reading, scoped);
  const unused = isAll ? warnOfUnusedKeys(reading.keyring, ledger.entries, checks) : [];
  const unexpected = await findUnexpected(archive, keys, accounted, isEvidence, isAll);
  const warnings = [...warnOfUnread(context, reading), ...stored.warnings, ...unused, ...unexpected.warnings];
  const stray = [
    ...reading.closed.findings(inScope),
    ...unexpected.findings,
    ...reading.service.findings,
    ...stored.findings,
    ...[...reading.holdLog.values()].flatMap((check) => check.findings),
  ];
  const locks = await checkLocks(context, reading, scoped, stray);
  const { findings, refuted } = history.judge(checks);
  const judged = withBeginnings(
    checks.map((check) => withHistory(check, history, refuted)),
    history,
  ).map((check) => ({ ...check, outcome: outcomeOf(check) }));
  return toReport({
    checks: settleSuperseded(judged, ledger.entries),
    reading,
    found: { ...checkSigned(reading, inScope), history: findings, stray },
    locks,
    warnings,
    checked: accounted.size,
    open,
    months: isAll ? reportMonths(ledger.entries, context.now) : [],
  });
}

/** Checks the ledger, the keys and the signatures. */
function checkSigned(reading: ArchiveReading, inScope: InScope): Pick<ArchiveFindings, 'ledger' | 'signatures'> {
  const { ledger, keyring, checks, closed } = reading;
  return {
    ledger: closed.withoutMissing([
      ...ledger.findings,
      ...checkLedger(ledger, checks, inScope),
      ...findRemovedEntries(reading, inScope),
      ...checkEarlierRuns(checks),
    ]),
    signatures: closed.withoutMissing([
      ...keyring.findings,
      ...checkLedgerSignatures(ledger.entries, keyring, signedRuns(checks), inScope),
      ...checkUnsignedRuns(ledger.entries, checks),
    ]),
  };
}

/** Returns the keys of objects that a record vouches for. */
function accountedIn({ ledger, service, keyring, checks, holdLog }: ArchiveReading): Set<string> {
  return new Set([
    ...ledger.keys,
    ...service.keys,
    ...keyring.keys,
    ...checks.flatMap((check) => [...check.accounted]),
    ...[...holdLog.values()].flatMap((check) => check.keys),
  ]);
}

/** Checks the store's statements about the objects. */
function checkObjects(
  { archive }: ArchiveContext,
  { objects, checks }: ArchiveReading,
  scoped: readonly StoredObject[],
): { findings: ObjectFinding[]; warnings: string[] } {
  const listing = checkListing(scoped);
  // Folders keep no versions, even if copied from a store that does.
  const versions = archive.locks === null ? { findings: [], warnings: [] } : checkVersions(objects, checks);
  return {
    findings: [...listing.findings, ...versions.findings],
    warnings: [...versions.warnings, ...listing.warnings],
  };
}

/** Checks locks, except those of unexpected objects. */
function checkLocks(
  { archive, now, lockedUntil = null }: ArchiveContext,
  { keys, checks, holdLog, ledger }: ArchiveReading,
  scoped: readonly StoredObject[],
  stray: readonly ObjectFinding[],
): Promise<LockReport> {
  const unexpected = new Set(stray.filter(({ code }) => code === 'object/unexpected').map(({ key }) => key));
  return verifyLocks({
    archive,
    keys: scoped.map(({ key }) => key).filter((key) => keys.has(key) && !unexpected.has(key)),
    checks,
    holdLog: new Map([...holdLog].map(([runId, check]) => [runId, check.holdLog])),
    entries: ledger.entries,
    now,
    until: lockedUntil,
  });
}

/**
 * Applies the comparison of all bundles to a run: streams that other runs contradict are refuted, and continuity with
 * an unread bundle is only read back.
 */
function withHistory(check: RunCheck, history: History, refuted: ReadonlySet<string>): RunCheck {
  const streams = check.streams.map((stream): VerifiedStream => {
    const { verdict, required, parts } = stream;
    if (refuted.has(`${check.runId}/${verdict.stream_id}`))
      return { ...stream, altered: true, verdict: { ...verdict, status: 'refuted' } };
    const unread = parts.find((runId) => !history.isRead(runId, verdict.stream_id));
    if (unread === undefined) return stream;
    return {
      ...stream,
      verdict: asReadBack(verdict, { continuity: `the bundle of run ${unread} was not read here` }, required),
    };
  });
  const isRefuted = (streamId: string) => refuted.has(`${check.runId}/${streamId}`);
  const supplements = check.supplements === null ? null : withoutProofsOf(check.supplements, isRefuted);
  return { ...check, streams, supplements };
}

/** Reports whether an object belongs to a run in scope, or to no run if all runs are verified. */
function isOf(key: string, inScope: InScope, all: boolean): boolean {
  const runId = runIdOf(key);
  return runId === null ? all || key.startsWith(LEDGER_PREFIX) : inScope(runId);
}

/** Checks that records state the same about earlier runs as these runs' own records. */
function checkEarlierRuns(checks: readonly RunCheck[]): ObjectFinding[] {
  const own = new Map(
    checks.flatMap(({ runId, record }) => (record === null ? [] : [[runId, JSON.stringify(toEarlierRun(record))]])),
  );
  return checks.flatMap(({ runId, record }) =>
    (record?.earlier_runs ?? [])
      .filter((earlier) => own.has(earlier.run_id) && own.get(earlier.run_id) !== JSON.stringify(earlier))
      .map(({ run_id }) => recordDiffers(runRecordKey(runId), `contradicts the record of run ${run_id}`)),
  );
}

function signedRuns(checks: readonly RunCheck[]): Set<string> {
  return new Set(checks.flatMap(({ runId, record }) => (record?.signed === true ? [runId] : [])));
}

/**
 * Reports for each month that has ended whether a run covers it.
 * @param entries ledger entries, oldest first.
 */
function reportMonths(entries: readonly StoredLedgerEntry[], now: Date): MonthReport[] {
  const runs = entries.flatMap(({ entry }) => ('run_id' in entry ? [{ run_id: entry.run_id, ...entry.coverage }] : []));
  return coverMonths(runs, now).map(toMonthReport);
}

/** Returns warnings about everything that the report leaves out or only read back. */
function warnOfUnread(
  { from = null, identities = null }: Pick<ArchiveContext, 'from' | 'identities'>,
  { checks, holdLog }: Pick<ArchiveReading, 'checks' | 'holdLog'>,
): string[] {
  return [
    ...(from === null ? [] : [`Runs before ${from} were not verified.`]),
    ...checks.flatMap(({ runId, record }) => warnOfGrown(runId, record)),
    ...checks.flatMap((check) => check.attestations?.warnings ?? []),
    ...warnOfEncrypted(checks, identities),
    ...[...holdLog.values()].flatMap((check) => check.warnings),
  ];
}

/** Warns about claims in unopened bundles, and about identities that opened nothing. */
function warnOfEncrypted(checks: readonly RunCheck[], identities: RunContext['identities']): string[] {
  const who =
    identities === null
      ? 'A recipient proves them with an identity.'
      : "None of the given identities opens them: give a recipient's identity.";
  const warnings = checks.flatMap(({ runId, streams }) => {
    const unopened = streams.filter(({ encrypted }) => encrypted).length;
    if (unopened === 0) return [];
    return [
      `Run ${runId}: ${unopened} of ${plural(streams.length, 'bundle')} ${agree(unopened, 'is encrypted and was', 'are encrypted and were')} not opened here. The stored bytes are those that were archived; their claims are only as the run recorded them. ${who}`,
    ];
  });
  const stored = checks.flatMap(({ streams }) => streams);
  if (identities !== null && !stored.some(({ bundle }) => bundle.encrypted !== undefined))
    warnings.push('No verified bundle is encrypted: the given identities opened nothing.');
  return warnings;
}

/**
 * Warns about streams of a resumed run for which the service had more entries at the end than when they were received.
 */
function warnOfGrown(runId: string, record: RunCheck['record']): string[] {
  const grown = record === null ? [] : disagreementsIn(record).filter(({ kind }) => kind === 'grown');
  return grown.map(({ stream_id, message }) => `Run ${runId}, stream "${stream_id}": ${message}.`);
}
