import { isEvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { readHoldLog, type StoredHoldRecord } from '../records/hold-log.ts';
import { holdRecordKey, holdResultKey, runRecordKey } from '../records/keys.ts';
import { readShares, type StoredShare, shareKey } from '../records/share.ts';
import { type ObjectFinding, toObjectFinding, toUnreadable } from './object-finding.ts';

/** Records of the protection of a run, and of those whom it was shared with. */
export interface HoldLogCheck {
  /** The oldest first. */
  holdLog: StoredHoldRecord[];
  /** The oldest first. */
  shares: StoredShare[];
  findings: ObjectFinding[];
  warnings: string[];
  /** The objects that were looked at. */
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
        `Run ${runId}: the ${record.action} that was ordered at ${record.ordered_at} was not completed; the same command completes it.`,
      );
    else if (result.record_sha256 !== sha256)
      check.findings.push(
        toObjectFinding('object/altered', key, `its SHA-256 is not the one in ${holdResultKey(key)}`, {
          expected: result.record_sha256,
          actual: sha256,
        }),
      );
  }
  return check;
}

function misplaced(key: string): ObjectFinding {
  return toObjectFinding('record/differs', key, 'is not where a record of what it says belongs');
}
