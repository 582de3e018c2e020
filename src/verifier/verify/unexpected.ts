import { sha256 } from '../../core/digest.ts';
import { isEvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { slugOf } from '../bundle/layout.ts';
import { readAcceptance } from '../ledger/contradiction.ts';
import { ATTEMPT } from '../records/attempt.ts';
import {
  ACCEPTANCES_PREFIX,
  acceptanceKey,
  askedKey,
  attemptFileOf,
  isAnnouncedSupplementsKey,
  isDocumentKey,
  isEncryptedBundleKey,
  isSupplementsKey,
  runDraftKey,
  runIdOf,
  runRecordKey,
  streamSlugOf,
} from '../records/keys.ts';
import { readRecord } from '../records/record-bytes.ts';
import type { InScope } from './ledger.ts';
import { type ObjectFinding, toObjectFinding, toUnreadable } from './object-finding.ts';

/** Finds objects that nothing accounts for. Objects left by an unfinished run are accounted for by name. */
export async function findUnexpected(
  archive: ReadableArchive,
  keys: ReadonlySet<string>,
  accounted: ReadonlySet<string>,
  inScope: InScope,
  all: boolean,
): Promise<{ findings: ObjectFinding[]; warnings: string[] }> {
  const findings: ObjectFinding[] = [];
  const warnings: string[] = [];
  for (const key of keys) {
    if (accounted.has(key)) continue;
    const runId = runIdOf(key);
    if (runId === null ? !all : !inScope(runId)) continue;
    const isOpen = runId !== null && !keys.has(runRecordKey(runId));
    if (isOpen && attemptFileOf(key) !== null) {
      const recordKey = key.replace(/[^/]+$/, 'attempt.json');
      if (keys.has(recordKey)) findings.push(...(await checkAttempt(archive, key, recordKey)));
      else warnings.push(`${key} was left by an attempt that was interrupted before it could record it.`);
      continue;
    }
    if (isOpen && isOfOpenRun(key, runId)) continue;
    if (await isLeftAcceptance(archive, key)) {
      warnings.push(
        `${key} was left by an acceptance that was interrupted before the ledger recorded it: it has no effect.`,
      );
      continue;
    }
    findings.push(toObjectFinding('object/unexpected', key, 'exists, but nothing records it'));
  }
  return { findings, warnings };
}

/** Reports whether an interruption can leave the object in a run. */
function isOfOpenRun(key: string, runId: string): boolean {
  const isNamed = key === askedKey(runId) || key === runDraftKey(runId);
  const isOfSupplements = isSupplementsKey(key) || isAnnouncedSupplementsKey(key);
  return isNamed || isOfSupplements || streamSlugOf(key) !== null || isEncryptedBundleKey(key) || isDocumentKey(key);
}

/** Reports whether the object is an acceptance in its place. The caller knows that no ledger entry names it. */
async function isLeftAcceptance(archive: ReadableArchive, key: string): Promise<boolean> {
  if (!key.startsWith(ACCEPTANCES_PREFIX)) return false;
  try {
    const { record } = await readAcceptance(archive, key);
    return key === acceptanceKey(slugOf(record.stream_id), record.accepted_at);
  } catch (error) {
    if (isEvidenceError(error, 'unreadable')) return false;
    throw error;
  }
}

/** Checks that an object of an attempt is one that the attempt's record names. */
async function checkAttempt(archive: ReadableArchive, key: string, recordKey: string): Promise<ObjectFinding[]> {
  try {
    const attempt = readRecord(ATTEMPT, await archive.readBytes(recordKey, ATTEMPT.maxBytes), recordKey);
    if (key === recordKey) return [];
    const named = [...attempt.incomplete.map(({ bundle }) => bundle), ...attempt.documents];
    const stated = named.find((object) => object.key === key);
    if (stated === undefined)
      return [toObjectFinding('object/unexpected', key, `exists, but ${recordKey} does not name it`)];
    const actual = sha256(await archive.readBytes(key, stated.bytes + 1));
    if (actual === stated.sha256) return [];
    return [
      toObjectFinding('object/altered', key, `its SHA-256 differs from the one in ${recordKey}`, {
        expected: stated.sha256,
        actual,
      }),
    ];
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    return [toUnreadable(key, error)];
  }
}
