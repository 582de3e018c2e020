import { type EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { isEarlierRevision, revisionOf } from '../../verifier/ledger/given-up.ts';
import { readPast } from '../../verifier/ledger/past.ts';
import { RUNS_PREFIX, runIdOf, runPrefix, runRecordKey } from '../../verifier/records/keys.ts';
import type { Archive } from '../archive/archive.ts';
import type { PeriodAnswer, RunName } from './period.ts';

/** Options for a run that already exists. */
interface RevisionOptions {
  archive: Archive;
  /** Exports a new revision of a finalized run. */
  revise: boolean;
  /** Returns how a begun run differs from the question; null if they agree or the run was not begun. */
  whyOther: (runId: string) => Promise<EvidenceError | null>;
  /** Returns why a begun run cannot be continued; see `whyNotOurs`. */
  whyNotOurs: (runId: string) => Promise<string | null>;
  /** Receives the reason that a begun run is left as it is. */
  onBlocked: (why: string) => void;
}

/**
 * Exports under the first free id: `runId` itself, or its revision `.r2`, `.r3`, …. Occupied ids belong to runs that
 * were abandoned or begun under another key; if a revision is wanted, also to runs that are finalized, begun with
 * another question, or cannot be continued. Those runs stay as they are, and the new run records that it supersedes
 * them.
 *
 * @param exportAs throws `conflict` if the run cannot be continued.
 */
export async function exportOrRevise<T>(
  options: RevisionOptions,
  runId: string,
  exportAs: (runId: string, supersedes: readonly string[]) => Promise<T>,
): Promise<T> {
  const passed = await earlierRevisions(options.archive, runId);
  for (let id = runId; ; id = nextRevision(id)) {
    const isPassed = await isInTheWay(options, id);
    // A run that was not begun does not occupy its id.
    const mayBeLeft = options.revise && (await isBegun(options.archive, id));
    try {
      if (!isPassed) return await exportAs(id, passed);
    } catch (error) {
      if (!mayBeLeft || !isEvidenceError(error, 'conflict')) throw error;
      options.onBlocked(error.message);
    }
    passed.push(id);
  }
}

async function isInTheWay(options: RevisionOptions, id: string): Promise<boolean> {
  if (options.revise && (await options.archive.stat(runRecordKey(id))) !== null) return true;
  const why =
    (await options.whyNotOurs(id)) ?? (options.revise ? ((await options.whyOther(id))?.message ?? null) : null);
  if (why !== null) options.onBlocked(why);
  return why !== null;
}

/** Returns the earlier revisions that were begun; empty for a run that is no revision. */
async function earlierRevisions(archive: Archive, runId: string): Promise<string[]> {
  const found: string[] = [];
  for (let id = revisionOf(runId).base; id !== runId; id = nextRevision(id))
    if (await isBegun(archive, id)) found.push(id);
  return found;
}

function nextRevision(runId: string): string {
  const { base, number } = revisionOf(runId);
  return `${base}.r${number + 1}`;
}

export async function isBegun(archive: Archive, runId: string): Promise<boolean> {
  for await (const _object of archive.list(runPrefix(runId))) return true;
  return false;
}

/**
 * Returns the newest run that was begun and neither finalized nor given up, among runs whose names differ only in the
 * day.
 * @param name of the run that is requested today.
 */
export async function findOpenRun(archive: Archive, { prefix, suffix }: RunName): Promise<string | null> {
  const open = await findOpenRuns(archive, prefix, (runId) => isAlike(runId, { prefix, suffix }));
  return open.sort(compareRevisions).at(-1) ?? null;
}

/** Orders runs by name, and revisions of one run by number. */
function compareRevisions(a: string, b: string): number {
  const [one, other] = [revisionOf(a), revisionOf(b)];
  if (one.base !== other.base) return one.base < other.base ? -1 : 1;
  return one.number - other.number;
}

/**
 * Returns the ids of runs that were begun, neither finalized nor given up, and not superseded by a finalized revision.
 * @param prefix of the ids to consider.
 */
export async function findOpenRuns(
  archive: Archive,
  prefix: string,
  isWanted: (runId: string) => boolean,
): Promise<string[]> {
  const begun = new Set<string>();
  const finalized = new Set<string>();
  for await (const { key } of archive.list(`${RUNS_PREFIX}${prefix}`)) {
    const runId = runIdOf(key);
    if (runId === null || !isWanted(runId)) continue;
    begun.add(runId);
    if (key === runRecordKey(runId)) finalized.add(runId);
  }
  const open = begun
    .difference(finalized)
    .values()
    .filter((id) => !finalized.values().some((one) => isEarlierRevision(id, one)))
    .toArray();
  if (open.length === 0) return [];
  const { givenUp } = await readPast(archive);
  return open.filter((runId) => !givenUp.has(runId));
}

/**
 * Chooses the id of a run. A run of all entries until now that was begun on an earlier day and not finalized continues
 * under its own id.
 */
export async function chooseRunId(archive: Archive, { runId, series }: PeriodAnswer): Promise<string> {
  return (series === null ? null : await findOpenRun(archive, series)) ?? runId;
}

function isAlike(runId: string, { prefix, suffix }: RunName): boolean {
  const rest = runId.slice(prefix.length).replace(/\.r\d+$/, '');
  return rest.endsWith(suffix) && /^\d{4}-\d{2}-\d{2}$/.test(rest.slice(0, rest.length - suffix.length));
}
