import { agree, plural } from '../../core/words.ts';
import type { StoredObject } from '../archive/archive.ts';
import { compareKeys, isKey } from '../archive/key.ts';
import { asReadBack } from '../claims/recorded.ts';
import { toEarlierRun } from '../ledger/earlier-runs.ts';
import { runOf } from '../ledger/ledger.ts';
import { refuseOtherVersion } from '../ledger/version.ts';
import { LEDGER_PREFIX, PUBLIC_KEYS_PREFIX, runIdOf, runRecordKey } from '../records/keys.ts';
import type { LedgerHead } from '../records/record.ts';
import type { PublicKey } from '../signature/key.ts';
import { type ArchiveReport, toReport } from './archive-report.ts';
import { withBeginnings } from './beginnings.ts';
import { ClosedFolders } from './closed-folders.ts';
import type { VerifyOptions } from './content.ts';
import { History } from './history.ts';
import { type HoldLogCheck, verifyHoldLog } from './hold-log.ts';
import { acceptedIn, checkLedger, type InScope, type Ledger, readLedger } from './ledger.ts';
import { verifyLocks } from './locks.ts';
import { reportMonths } from './months.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { verifyService } from './one-service.ts';
import { outcomeOf, type RunCheck, verifyRun } from './run.ts';
import { checkLedgerSignatures, findUnusedKeys, type Keyring, readKeyring } from './signatures.ts';
import type { RunContext, VerifiedStream } from './stream.ts';
import { findUnexpected } from './unexpected.ts';
import { checkListing, checkVersions } from './versions.ts';

/** Whom and what the reader trusts. */
export interface ArchiveOptions extends VerifyOptions, Pick<RunContext, 'stampRoots'> {
  /** An archive must be signed with one of these if there are any. */
  publicKeys: readonly PublicKey[];
}

/** What is verified of an archive, and who is told how it goes. */
export interface ArchiveContext
  extends ArchiveOptions,
    Pick<RunContext, 'archive' | 'workDirectory' | 'onStream' | 'fast' | 'identities' | 'concurrency'> {
  /** The first run to verify, in the order of their ids; what comes before counts as far as the ledger goes. */
  from?: string | null;
  /** Every lock must last until then; null where any will do. */
  lockedUntil?: Date | null;
  onRun?(runId: string): void;
  /** @param number of the run among `of`, from 1. */
  onRunEnd?(check: RunCheck, number: number, of: number): void;
}

/**
 * Verifies an archive, or some runs of it: the ledger's chain, every run it records, every object there is, and that
 * each is locked as it was.
 * @param only the run to verify; the others count only as far as the ledger goes.
 * @throws EvidenceError `config` for an archive that another version wrote.
 */
export async function verifyArchive(context: ArchiveContext, only: string | null = null): Promise<ArchiveReport> {
  const { archive, publicKeys, from = null } = context;
  await refuseOtherVersion(archive);
  const inScope = (runId: string) =>
    (only === null || runId === only) && (from === null || compareKeys(runId, from) >= 0);
  const objects = new Map<string, StoredObject>();
  const closed = new ClosedFolders();
  for await (const object of archive.list('', closed.note)) objects.set(object.key, object);
  const keys = new Set([...objects.values()].filter(isObject).map(({ key }) => key));
  const ledger = await readLedger(archive, keys);
  const keyring = await readKeyring(archive, keys, publicKeys, closed.holds(PUBLIC_KEYS_PREFIX));
  const history = new History(ledger.entries.map(({ entry }) => entry));
  const checks = await verifyRuns({ ...context, history }, keys, ledger, keyring, inScope);
  const service = await verifyService(archive, keys, ledger.entries, checks);
  const holdLog = new Map<string, HoldLogCheck>();
  for (const { runId } of checks) holdLog.set(runId, await verifyHoldLog(archive, runId));
  const ledgerFindings = closed.withoutMissing([
    ...ledger.findings,
    ...checkLedger(ledger, checks, inScope),
    ...checkEarlierRuns(checks),
  ]);
  const unsigned = closed.withoutMissing([
    ...keyring.findings,
    ...checkLedgerSignatures(ledger.entries, keyring, signedRuns(checks)),
  ]);
  const open = openRuns(keys, inScope);
  // A folder keeps no versions, also one that was copied from a store that does.
  const versions = archive.locks === null ? { findings: [], warnings: [] } : checkVersions(objects, checks);
  const scoped = [...objects.values()].filter(({ key }) => isOf(key, inScope, only === null && from === null));
  const listing = checkListing(scoped);
  const warnings = [
    ...(from === null ? [] : [`Runs before ${from} were not looked at.`]),
    ...open.map(
      (runId) =>
        `Run ${runId} was begun but not finalized: nothing of it was looked at. The same export command goes on with it.`,
    ),
    ...checks.flatMap((check) => check.attestations?.warnings ?? []),
    ...warnOfEncrypted(checks, context.identities ?? null),
    ...[...holdLog.values()].flatMap((check) => check.warnings),
    ...versions.warnings,
    ...listing.warnings,
  ];
  const accounted = new Set([
    ...ledger.keys,
    ...service.keys,
    ...keyring.keys,
    ...checks.flatMap((check) => [...check.accounted]),
    ...[...holdLog.values()].flatMap((check) => check.keys),
  ]);
  const stray = [
    ...closed.findings(inScope),
    ...(await findUnexpected(archive, keys, accounted, warnings, inScope, only === null && from === null)),
    ...service.findings,
    ...(only === null && from === null ? findUnusedKeys(keyring, ledger.entries, checks) : []),
    ...listing.findings,
    ...versions.findings,
    ...[...holdLog.values()].flatMap((check) => check.findings),
  ];
  const unexpected = new Set(stray.filter(({ code }) => code === 'object/unexpected').map(({ key }) => key));
  const locks = await verifyLocks({
    archive,
    keys: scoped.map(({ key }) => key).filter((key) => keys.has(key) && !unexpected.has(key)),
    checks,
    holdLog: new Map([...holdLog].map(([runId, check]) => [runId, check.holdLog])),
    entries: ledger.entries,
    now: context.now,
    until: context.lockedUntil ?? null,
  });
  const checked = accounted.size;
  const { findings, refuted } = history.judge(checks);
  return toReport({
    checks: withBeginnings(
      checks.map((check) => withHistory(check, history, refuted)),
      history,
    ).map((check) => ({ ...check, outcome: outcomeOf(check) })),
    holdLog,
    ledgerFindings,
    history: findings,
    keyring,
    unsigned,
    stray,
    locks,
    warnings,
    checked,
    ledger,
    open,
    service: service.service,
    months: only === null && from === null ? reportMonths(ledger.entries, context.now) : [],
  });
}

/** Once all bundles were read: a stream that other runs contradict is refuted, and what was compared with an unread one is read back. */
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
  return { ...check, streams };
}

/** A name or a thing that no archive stores is reported by `checkListing`, and read by nobody. */
function isObject({ key, irregular }: StoredObject): boolean {
  return isKey(key) && irregular !== 'link' && irregular !== 'special';
}

/** Whether an object is of a run in scope; those of no run are of all of them. */
function isOf(key: string, inScope: InScope, all: boolean): boolean {
  const runId = runIdOf(key);
  return runId === null ? all || key.startsWith(LEDGER_PREFIX) : inScope(runId);
}

async function verifyRuns(
  context: ArchiveContext & Pick<RunContext, 'history'>,
  keys: ReadonlySet<string>,
  ledger: Ledger,
  keyring: Keyring,
  inScope: InScope,
): Promise<RunCheck[]> {
  const heads = new Map<string, Map<string, LedgerHead>>();
  for (const { entry } of ledger.entries) {
    const run = runOf(entry);
    if (run !== null) heads.set(run.id, headsOf(run.id, entry.heads));
  }
  const headOf: RunContext['headOf'] = (runId, streamId) => heads.get(runId)?.get(streamId);
  const finalized = [...new Set([...keys].map(runIdOf))].filter(
    (runId): runId is string => runId !== null && keys.has(runRecordKey(runId)) && inScope(runId),
  );
  const checks: RunCheck[] = [];
  for (const [index, runId] of finalized.entries()) {
    context.onRun?.(runId);
    const check = await verifyRun({ ...context, headOf, isAccepted: acceptedIn(ledger), keyring }, runId);
    context.onRunEnd?.(check, index + 1, finalized.length);
    checks.push(check);
  }
  return checks;
}

function headsOf(runId: string, heads: Record<string, LedgerHead>): Map<string, LedgerHead> {
  return new Map(Object.entries(heads).filter(([, head]) => head.run_id === runId));
}

function openRuns(keys: ReadonlySet<string>, inScope: InScope): string[] {
  const begun = new Set([...keys].map(runIdOf).filter((runId): runId is string => runId !== null));
  return [...begun].filter((runId) => !keys.has(runRecordKey(runId)) && inScope(runId)).sort();
}

/** What records say of the runs before them must be what these say of themselves. */
function checkEarlierRuns(checks: readonly RunCheck[]): ObjectFinding[] {
  const own = new Map(
    checks.flatMap(({ runId, record }) => (record === null ? [] : [[runId, JSON.stringify(toEarlierRun(record))]])),
  );
  return checks.flatMap(({ runId, record }) =>
    (record?.earlier_runs ?? [])
      .filter((earlier) => own.has(earlier.run_id) && own.get(earlier.run_id) !== JSON.stringify(earlier))
      .map(({ run_id }) =>
        toObjectFinding('record/differs', runRecordKey(runId), `says of run ${run_id} what its record does not`),
      ),
  );
}

function signedRuns(checks: readonly RunCheck[]): Set<string> {
  return new Set(checks.flatMap(({ runId, record }) => (record?.signed === true ? [runId] : [])));
}

/** What is not said of claims that nobody recomputed would be taken for proved, as would a key that opened nothing. */
function warnOfEncrypted(checks: readonly RunCheck[], identities: RunContext['identities']): string[] {
  const who =
    identities === null
      ? 'A recipient proves them with --identity.'
      : 'None of the identities that were given opens them: name that of a recipient with --identity.';
  const warnings = checks.flatMap(({ runId, streams }) => {
    const unopened = streams.filter(({ encrypted }) => encrypted).length;
    if (unopened === 0) return [];
    return [
      `Run ${runId}: ${unopened} of ${plural(streams.length, 'bundle')} ${agree(unopened, 'is encrypted and was', 'are encrypted and were')} not opened here. What lies there is what was archived; of the claims in it there is only what the run recorded. ${who}`,
    ];
  });
  const stored = checks.flatMap(({ streams }) => streams);
  if (identities !== null && !stored.some(({ bundle }) => bundle.encrypted !== undefined))
    warnings.push('No bundle that was looked at is encrypted: the identities that were given opened nothing.');
  return warnings;
}
