import type { RecordFormat } from '../../verifier/model/record-format.ts';
import { runIdOf, runRecordKey } from '../../verifier/records/keys.ts';
import type { StoredAs } from '../../verifier/records/stored-object.ts';
import type { Archive } from '../archive/archive.ts';
import { putRecord } from './put-record.ts';

/**
 * Stores a record beside a finalized run, for as long as the run's own record is kept.
 * @throws EvidenceError as `putRecord` and `lockAsRun` do.
 */
export async function putBesideRun<T>(
  archive: Archive,
  key: string,
  format: RecordFormat<T>,
  record: T,
  now: Date,
): Promise<StoredAs> {
  const stored = await putRecord(archive, key, format, record);
  await lockAsRun(archive, key, now);
  return stored;
}

/**
 * Locks what was added to a finalized run for as long as the run's own record is locked: whoever adds it may have another
 * configuration than whoever exported.
 *
 * @throws EvidenceError `store-refused`, `archive`.
 */
export async function lockAsRun(archive: Archive, key: string, now: Date): Promise<void> {
  const runId = runIdOf(key);
  if (runId === null) throw new TypeError(`${key} is of no run`);
  const { locks } = archive;
  const wanted = (await locks?.inspect(runRecordKey(runId)))?.lock ?? null;
  if (locks === null || wanted === null || wanted === 'hidden') return;
  const until = new Date(wanted.retain_until);
  const own = (await locks.inspect(key))?.lock ?? null;
  const isEnough = own === 'hidden' || (own !== null && new Date(own.retain_until) >= until);
  if (until > now && !isEnough) await locks.extend(key, until, wanted.mode);
}
