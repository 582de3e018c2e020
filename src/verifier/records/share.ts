import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { operatorSchema } from '../claims/stated-schema.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { holdActionOf, holdLogPrefix, holdRecordKey } from './keys.ts';
import { readRecord } from './record-bytes.ts';
import { keySchema } from './stored-object.ts';

const sharedObjectSchema = z.strictObject({
  key: keySchema,
  bytes: z.int().min(0),
  sha256: sha256Schema,
  version_id: z.string().nullable(),
});
export type SharedObject = z.infer<typeof sharedObjectSchema>;

/**
 * `runs/<run-id>/hold-log/<time>-share.json`: written before anything is handed out, so that nothing is unsaid. Links
 * are secrets, and never stand in it.
 */
export const shareSchema = z.strictObject({
  format: z.literal(FORMATS.share),
  run_id: runIdSchema,
  /** To whom; null where it was not said. */
  shared_with: z.string().nullable(),
  shared_by: operatorSchema,
  shared_at: timeSchema,
  form: z.enum(['links', 'copies']),
  /** When the links end; null for copies, and where nobody could know when the credentials of the links end. */
  expires_at: timeSchema.nullable(),
  objects: z.array(sharedObjectSchema),
});
export type ShareRecord = z.infer<typeof shareSchema>;

export interface StoredShare {
  key: string;
  record: ShareRecord;
}

/** A copy of the record in the recipient's folder, which tells it from a whole archive. */
export const SHARE_MARK = 'share.json';

export const SHARE: RecordFormat<ShareRecord> = { schema: shareSchema, maxBytes: 256 * 2 ** 20 };

/** Returns the key of the record of a share. */
export function shareKey({ run_id, shared_at }: ShareRecord): string {
  return holdRecordKey(run_id, shared_at, 'share');
}

/**
 * All that was shared of a run, the oldest first.
 * @throws EvidenceError `unreadable` for a record that is not one; `archive`.
 */
export async function readShares(archive: ReadableArchive, runId: string): Promise<StoredShare[]> {
  const shares: StoredShare[] = [];
  for await (const { key } of archive.list(holdLogPrefix(runId)))
    if (holdActionOf(key) === 'share') shares.push({ key, record: await readShare(archive, key) });
  return shares.sort((a, b) => (a.record.shared_at < b.record.shared_at ? -1 : 1));
}

/** @param key of a record of a share, or of a copy of one. @throws EvidenceError as `readShares` does. */
export async function readShare(archive: ReadableArchive, key: string): Promise<ShareRecord> {
  return readRecord(SHARE, await archive.readBytes(key, SHARE.maxBytes), key);
}
