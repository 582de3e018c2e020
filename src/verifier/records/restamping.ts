import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { operatorSchema } from '../claims/stated-schema.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { holdActionOf, holdLogPrefix, holdRecordKey } from './keys.ts';
import { readRecord } from './record-bytes.ts';
import { keySchema } from './stored-object.ts';

/** `runs/<run-id>/hold-log/<time>-restamp.json`: written before its token is kept, so that none goes unsaid. */
export const restampingSchema = z.strictObject({
  format: z.literal(FORMATS.restamp),
  run_id: runIdSchema,
  ordered_by: operatorSchema,
  ordered_at: timeSchema,
  /** The authority that was asked for the token. */
  timestamp_authority: z.string(),
  token: z.strictObject({ key: keySchema, sha256: sha256Schema }),
});
export type Restamping = z.infer<typeof restampingSchema>;

export interface StoredRestamping {
  key: string;
  record: Restamping;
}

export const RESTAMPING: RecordFormat<Restamping> = { schema: restampingSchema, maxBytes: 64 * 1024 };
const ACTION = 'restamp';

/** Returns the key of the record of it. */
export function restampingKey({ run_id, ordered_at }: Pick<Restamping, 'run_id' | 'ordered_at'>): string {
  return holdRecordKey(run_id, ordered_at, ACTION);
}

/**
 * Returns who had a run stamped anew, the oldest first.
 * @throws EvidenceError `unreadable` for a record that is not one; `archive`.
 */
export async function readRestampings(archive: ReadableArchive, runId: string): Promise<StoredRestamping[]> {
  const found: StoredRestamping[] = [];
  for await (const { key } of archive.list(holdLogPrefix(runId)))
    if (holdActionOf(key) === ACTION)
      found.push({ key, record: readRecord(RESTAMPING, await archive.readBytes(key, RESTAMPING.maxBytes), key) });
  return found;
}
