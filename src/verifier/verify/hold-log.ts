import { sha256 } from '../../core/digest.ts';
import { isEvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import {
  type Restamping,
  readHoldLog,
  readRestampings,
  readShares,
  restampingKey,
  type StoredHoldRecord,
  type StoredRestamping,
  type StoredShare,
  shareKey,
} from '../records/hold-log.ts';
import { holdRecordKey, holdResultKey, runRecordKey, stampKey } from '../records/keys.ts';
import type { StoredStamp } from '../records/stamps.ts';
import { type ObjectFinding, recordDiffers, toObjectFinding, toUnreadable } from './object-finding.ts';

/** Records of a run's protection and of its shares. */
export interface HoldLogCheck {
  /** Oldest first. */
  holdLog: StoredHoldRecord[];
  /** Oldest first. */
  shares: StoredShare[];
  findings: ObjectFinding[];
  warnings: string[];
  /** Keys of the checked objects. */
  keys: string[];
}

export async function verifyHoldLog(archive: ReadableArchive, runId: string): Promise<HoldLogCheck> {
  const check: HoldLogCheck = { holdLog: [], shares: [], findings: [], warnings: [], keys: [] };
  try {
    check.holdLog = await readHoldLog(archive, runId);
    check.shares = await readShares(archive, runId);
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    check.findings.push(toUnreadable(runRecordKey(runId), error));
    return check;
  }
  for (const { key, record } of check.shares) {
    check.keys.push(key);
    if (record.run_id !== runId || key !== shareKey(record)) check.findings.push(misplaced(key));
  }
  for (const stored of check.holdLog) {
    const { key, record, sha256, result } = stored;
    check.keys.push(key, ...(result === null ? [] : [holdResultKey(key)]));
    if (record.run_id !== runId || key !== holdRecordKey(runId, record.ordered_at, record.action))
      check.findings.push(misplaced(key));
    if (result === null)
      check.warnings.push(
        `Run ${runId}: the ${record.action} ordered at ${record.ordered_at} was not completed; run the same command to complete it.`,
      );
    else if (result.record_sha256 !== sha256)
      check.findings.push(
        toObjectFinding('object/altered', key, `its SHA-256 differs from the one in ${holdResultKey(key)}`, {
          expected: result.record_sha256,
          actual: sha256,
        }),
      );
  }
  return check;
}

function misplaced(key: string): ObjectFinding {
  return recordDiffers(key, 'is not stored under the key that its content requires');
}

/** Records of new time-stamps for a run. */
export interface RestampCheck {
  /** Oldest first. */
  restamps: ({ key: string } & Pick<Restamping, 'ordered_by' | 'ordered_at' | 'timestamp_authority' | 'token'>)[];
  findings: ObjectFinding[];
  warnings: string[];
  /** Keys of the checked objects. */
  keys: string[];
}

/**
 * Compares the records of new time-stamps for a run with its tokens. The first token may be the export's own, which the
 * run record covers.
 */
export async function verifyRestamps(
  archive: ReadableArchive,
  runId: string,
  stamps: readonly StoredStamp[],
): Promise<RestampCheck> {
  const check: RestampCheck = { restamps: [], findings: [], warnings: [], keys: [] };
  const records = await readRestampings(archive, runId).catch((error: unknown) => {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    check.findings.push(toUnreadable(runRecordKey(runId), error));
    return null;
  });
  if (records === null) return check;
  const tokens = new Map(stamps.map(({ key, der }) => [key, sha256(der)]));
  const recorded = new Set<string>();
  for (const stored of records) {
    const { ordered_by, ordered_at, timestamp_authority, token } = stored.record;
    check.keys.push(stored.key);
    check.restamps.push({ key: stored.key, ordered_by, ordered_at, timestamp_authority, token });
    if (stored.key !== restampingKey({ ...stored.record, run_id: runId }) || stored.record.run_id !== runId)
      check.findings.push(misplaced(stored.key));
    if (tokens.get(token.key) === token.sha256) recorded.add(token.key);
    else check.warnings.push(describeLost(stored, tokens.has(token.key)));
  }
  for (const key of tokens.keys())
    if (key !== stampKey(runId, 1) && !recorded.has(key))
      check.findings.push(toObjectFinding('object/unexpected', key, 'exists, but no record says who ordered it'));
  return check;
}

function describeLost({ key, record: { token } }: StoredRestamping, another: boolean): string {
  return another
    ? `${key} records a token that was not stored: another one already existed.`
    : `${key} records ${token.key}, which is missing: storing it was interrupted, or it was removed later.`;
}
