import type { ReadableArchive, StoredObject, Unlisted } from '../archive/archive.ts';
import { isKey } from '../archive/key.ts';
import { type GivenUp, GivenUpRuns } from '../ledger/given-up.ts';
import { runOf } from '../ledger/ledger.ts';
import { PUBLIC_KEYS_PREFIX, runIdOf, runRecordKey } from '../records/keys.ts';
import type { Outcome } from '../records/outcome.ts';
import type { LedgerHead } from '../records/record.ts';
import { readRunRecord } from '../records/stored-run.ts';
import type { PublicKey } from '../signature/key.ts';
import type { VerifyOptions } from './content.ts';
import { History } from './history.ts';
import { type HoldLogCheck, verifyHoldLog } from './hold-log.ts';
import { acceptedIn, type InScope, type Ledger, readLedger } from './ledger.ts';
import { type ObjectFinding, readObject, toObjectFinding } from './object-finding.ts';
import { verifyService } from './one-service.ts';
import { type RunCheck, verifyRun } from './run.ts';
import { type Keyring, readKeyring } from './signatures.ts';
import type { RunContext } from './stream.ts';

/** Options of the reader: trusted keys and roots. */
export interface ArchiveOptions extends VerifyOptions, Pick<RunContext, 'stampRoots'> {
  /** Public keys, one of which must have signed the archive; empty if signatures are not required. */
  publicKeys: readonly PublicKey[];
}

/** Archive to verify, and callbacks for progress. */
export interface ArchiveContext
  extends ArchiveOptions,
    Pick<RunContext, 'archive' | 'workDirectory' | 'onStream' | 'fast' | 'identities' | 'concurrency'> {
  /** First run to verify, in the order of run ids. Earlier runs count only as far as the ledger goes. */
  from?: string | null;
  /** Time until which every lock must last; null if any lock will do. */
  lockedUntil?: Date | null;
  onRun?(runId: string): void;
  /** @param number of the run among `of`, counted from 1. */
  onRunEnd?(check: RunCheck, number: number, of: number): void;
}

/** Contents of an archive, and the result of each part by itself. */
// Over ten members: everything that later steps rest on.
export interface ArchiveReading {
  objects: ReadonlyMap<string, StoredObject>;
  /** Keys of objects whose names an archive may store. */
  keys: ReadonlySet<string>;
  closed: ClosedFolders;
  ledger: Ledger;
  /** Abandoned and superseded runs, by id. */
  givenUp: ReadonlyMap<string, GivenUp>;
  /** Outcomes stated in the records of runs that were finalized and later given up, by id. */
  statedOutcomes: ReadonlyMap<string, Outcome>;
  keyring: Keyring;
  history: History;
  /** Results of the runs in scope. */
  checks: RunCheck[];
  service: Awaited<ReturnType<typeof verifyService>>;
  /** Keyed by run id. */
  holdLog: ReadonlyMap<string, HoldLogCheck>;
}

export async function readArchive(context: ArchiveContext, inScope: InScope): Promise<ArchiveReading> {
  const { archive, publicKeys } = context;
  const objects = new Map<string, StoredObject>();
  const closed = new ClosedFolders();
  for await (const object of archive.list('', closed.note)) objects.set(object.key, object);
  const keys = new Set([...objects.values()].filter(isObject).map(({ key }) => key));
  const ledger = await readLedger(archive, keys);
  const keyring = await readKeyring(archive, keys, publicKeys, {
    entries: ledger.entries,
    isClosed: closed.holds(PUBLIC_KEYS_PREFIX),
  });
  const history = new History(ledger.entries.map(({ entry }) => entry));
  const ends = new GivenUpRuns();
  for (const { entry } of ledger.entries) ends.add(entry);
  const givenUp = ends.runs;
  const isEvidence: InScope = (runId) => inScope(runId) && !givenUp.has(runId);
  const checks = await verifyRuns({ ...context, history }, keys, ledger, keyring, isEvidence);
  const service = await verifyService(archive, keys, ledger.entries, checks);
  const holdLog = new Map<string, HoldLogCheck>();
  for (const { runId } of checks) holdLog.set(runId, await verifyHoldLog(archive, runId));
  const statedOutcomes = await readOutcomes(archive, keys, [...givenUp.keys()].filter(inScope));
  return { objects, keys, closed, ledger, givenUp, statedOutcomes, keyring, history, checks, service, holdLog };
}

/** Reads the outcomes that runs state. A record that cannot be read states none. */
async function readOutcomes(
  archive: ReadableArchive,
  keys: ReadonlySet<string>,
  runIds: readonly string[],
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  for (const runId of runIds) {
    const key = runRecordKey(runId);
    const read = async () => (await readRunRecord(archive, key)).record;
    const record = keys.has(key) ? (await readObject(key, read)).value : null;
    if (record !== null) outcomes.set(runId, record.outcome);
  }
  return outcomes;
}

/** Reports whether an object is one that an archive may store; `checkListing` reports all others. */
function isObject({ key, irregular }: StoredObject): boolean {
  return isKey(key) && irregular !== 'link' && irregular !== 'special';
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
    // An acceptance keeps the head that the accepted run saw.
    if (!('acceptance_key' in entry) || entry.seen === null || !heads.has(entry.seen.run_id)) continue;
    const { run_id } = entry.seen;
    heads.set(run_id, new Map([...(heads.get(run_id) ?? []), ...headsOf(run_id, entry.heads)]));
  }
  const headOf: RunContext['headOf'] = (runId, streamId) => heads.get(runId)?.get(streamId);
  const isRecorded = (runId: string) => heads.has(runId);
  const headsBefore: RunContext['headsBefore'] = (run) => knownHeads(ledger, run);
  const finalized = [...new Set([...keys].map(runIdOf))].filter(
    (runId): runId is string => runId !== null && keys.has(runRecordKey(runId)) && inScope(runId),
  );
  const isAccepted = acceptedIn(ledger);
  const checks: RunCheck[] = [];
  for (const [index, runId] of finalized.entries()) {
    context.onRun?.(runId);
    const check = await verifyRun({ ...context, headOf, headsBefore, isAccepted, isRecorded, keyring }, runId);
    context.onRunEnd?.(check, index + 1, finalized.length);
    checks.push(check);
  }
  return checks;
}

function headsOf(runId: string, heads: Iterable<[string, LedgerHead]>): Map<string, LedgerHead> {
  const own = new Map<string, LedgerHead>();
  for (const [streamId, head] of heads) if (head.run_id === runId) own.set(streamId, head);
  return own;
}

/** Returns the heads that a run knew: those of earlier entries made before its start, or of runs that it names. */
function knownHeads(
  { entries }: Ledger,
  { run_id, started_at, earlier_runs }: Parameters<RunContext['headsBefore']>[0],
): Iterable<[streamId: string, head: LedgerHead]> {
  const own = entries.findIndex(({ entry }) => runOf(entry)?.id === run_id);
  const named = new Set(earlier_runs.map((earlier) => earlier.run_id));
  const known = entries
    .slice(0, own === -1 ? undefined : own)
    .findLast(({ entry }) => entry.created_at <= started_at || named.has(runOf(entry)?.id ?? ''));
  return known?.entry.heads ?? [];
}

/** Folders of an archive that could not be listed, so their objects are unknown. */
class ClosedFolders {
  readonly #why = new Map<string, string>();

  readonly note: Unlisted = (folder, why) => {
    this.#why.set(folder, why);
  };

  /** Returns findings for folders of runs in scope and of no run. */
  findings(inScope: InScope): ObjectFinding[] {
    return [...this.#why]
      .filter(([folder]) => inScope(runIdOf(folder) ?? '') || runIdOf(folder) === null)
      .map(([folder, why]) =>
        toObjectFinding(
          'object/closed',
          folder,
          `is a folder that cannot be listed, so nothing in it was checked: ${why}`,
        ),
      );
  }

  /** Leaves out findings about missing objects that may lie in one of the folders. */
  withoutMissing(findings: readonly ObjectFinding[]): ObjectFinding[] {
    return findings.filter(({ code, key }) => !MISSING.test(code) || !this.holds(key));
  }

  /** Reports whether a key lies in one of the folders. */
  holds(key: string): boolean {
    return [...this.#why.keys()].some((folder) => key.startsWith(folder));
  }
}

const MISSING = /^(object\/missing|ledger\/missing-entry)$/;
