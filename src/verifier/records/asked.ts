import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { periodSchema } from '../claims/span-schema.ts';
import { operatorSchema } from '../claims/stated-schema.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { askedKey } from './keys.ts';
import { scopeSchema, sourceSchema } from './question.ts';
import { readRecord } from './record-bytes.ts';

/** `runs/<run-id>/asked.json`: what the run is asked for, written before anything else of it. */
export const askedSchema = z.strictObject({
  format: z.literal(FORMATS.asked),
  run_id: runIdSchema,
  source: sourceSchema,
  period: periodSchema,
  scope: scopeSchema,
  begun_at: timeSchema,
  /** By the service's clock; null where it did not say what time it was. */
  begun_at_by_service: timeSchema.nullable(),
  /** Random, and in the binding of all that the run leaves: nothing of another run, or of another day, is taken for its own. */
  nonce: sha256Schema,
  /** The operator who began it. */
  operator: operatorSchema,
  /** See `export/binding.ts`. */
  binding: sha256Schema.nullable(),
});
export type Asked = z.infer<typeof askedSchema>;

export const ASKED: RecordFormat<Asked> = { schema: askedSchema, maxBytes: 2 ** 24 };

/** Returns the question of a run that was begun, with the bytes that state it. @throws EvidenceError `unreadable`. */
export async function readAsked(
  archive: Pick<ReadableArchive, 'readBytes'>,
  runId: string,
): Promise<{ asked: Asked; bytes: Uint8Array }> {
  const key = askedKey(runId);
  const bytes = await archive.readBytes(key, ASKED.maxBytes);
  return { asked: readRecord(ASKED, bytes, key), bytes };
}
