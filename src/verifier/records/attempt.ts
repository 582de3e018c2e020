import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import { type RecordFormat, runIdSchema, timeSchema } from '../model/schemas.ts';
import { documentSchema, runReconciliationSchema, streamFailureSchema, streamRecordSchema } from './record.ts';
import { binding } from './stored-object.ts';
import { runSupplementsSchema } from './supplements.ts';

/** `runs/<run-id>/attempts/<time>/attempt.json`: an attempt that ended incomplete, and the reasons. */
export const attemptSchema = z.strictObject({
  format: z.literal(FORMATS.attempt),
  run_id: runIdSchema,
  started_at: timeSchema,
  ended_at: timeSchema,
  reconciliation: runReconciliationSchema,
  failed: z.array(streamFailureSchema),
  supplements: runSupplementsSchema.nullable(),
  documents: z.array(documentSchema),
  incomplete: z.array(streamRecordSchema.omit({ format: true, run_id: true, recorded_at: true, binding: true })),
  binding,
});
export type Attempt = z.infer<typeof attemptSchema>;

export const ATTEMPT: RecordFormat<Attempt> = { schema: attemptSchema, maxBytes: 2 ** 28 };
