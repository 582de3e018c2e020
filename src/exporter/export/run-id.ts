import { type EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Archive } from '../../verifier/archive/archive.ts';
import { RUNS_PREFIX, runIdOf, runPrefix, runRecordKey } from '../../verifier/records/keys.ts';
import type { PeriodAnswer, RunName } from './period.ts';

/** What is to become of a run that is there already. */
export interface RevisionWish {
  archive: Archive;
  /** A new revision of what is finalized. */
  revise: boolean;
  /** Why a run that was begun is another one than what is asked for; null where it is the same, or not begun. */
  whyOther: (runId: string) => Promise<EvidenceError | null>;
  /** Is told why a run that was begun is left as it is. */
  onBlocked: (why: EvidenceError) => void;
}

/**
 * Exports under an id: `runId` itself, or where a revision is wanted its next one `.r2`, `.r3`, … that is neither
 * finalized, nor begun with another question, nor begun and impossible to go on with. Those stay as they are.
 *
 * @param exportAs throws `conflict` for a run that cannot be gone on with.
 */
export async function exportOrRevise<T>(
  wish: RevisionWish,
  runId: string,
  exportAs: (runId: string) => Promise<T>,
): Promise<T> {
  if (!wish.revise) return exportAs(runId);
  for (let id = await firstFree(wish, runId); ; id = await firstFree(wish, nextRevision(id))) {
    // One that was not begun is not in its own way.
    const isInTheWay = await isBegun(wish.archive, id);
    try {
      return await exportAs(id);
    } catch (error) {
      if (!isInTheWay || !isEvidenceError(error, 'conflict')) throw error;
      wish.onBlocked(error);
    }
  }
}

async function firstFree({ archive, whyOther, onBlocked }: RevisionWish, runId: string): Promise<string> {
  for (let id = runId; ; id = nextRevision(id)) {
    if ((await archive.stat(runRecordKey(id))) !== null) continue;
    const why = await whyOther(id);
    if (why === null) return id;
    onBlocked(why);
  }
}

function nextRevision(runId: string): string {
  const [, base = runId, number = '1'] = /^(.*)\.r(\d+)$/.exec(runId) ?? [];
  return `${base}.r${Number(number) + 1}`;
}

export async function isBegun(archive: Archive, runId: string): Promise<boolean> {
  for await (const _object of archive.list(runPrefix(runId))) return true;
  return false;
}

/**
 * The newest run that was begun and not finalized, of those that are named alike but for the day.
 * @param name of what is asked for today.
 */
export async function findOpenRun(archive: Archive, { prefix, suffix }: RunName): Promise<string | null> {
  const begun = new Set<string>();
  const finalized = new Set<string>();
  for await (const { key } of archive.list(`${RUNS_PREFIX}${prefix}`)) {
    const runId = runIdOf(key);
    if (runId === null || !isAlike(runId, { prefix, suffix })) continue;
    begun.add(runId);
    if (key === runRecordKey(runId)) finalized.add(runId);
  }
  return [...begun.difference(finalized)].sort().at(-1) ?? null;
}

/** What there is until now: a run of it that was begun on an earlier day, and not finalized, goes on under its own name. */
export async function chooseRunId(archive: Archive, { runId, series }: PeriodAnswer): Promise<string> {
  return (series === null ? null : await findOpenRun(archive, series)) ?? runId;
}

function isAlike(runId: string, { prefix, suffix }: RunName): boolean {
  const rest = runId.slice(prefix.length).replace(/\.r\d+$/, '');
  return rest.endsWith(suffix) && /^\d{4}-\d{2}-\d{2}$/.test(rest.slice(0, rest.length - suffix.length));
}
