import { z } from 'zod';
import { spanSchema } from '../claims/schemas.ts';
import { runIdSchema } from '../model/schemas.ts';

/** Finding of a run that contradicts earlier runs, with everything that an acceptance covers. */
export const contradictionSchema = z.strictObject({
  run_id: runIdSchema,
  /** Code of the first finding that refutes. */
  finding: z.string(),
  message: z.string(),
  /** Entries that the run had of the stream, with which later runs are compared; null for a vanished stream. */
  seen: spanSchema.nullable(),
});
export type AcceptedFinding = z.infer<typeof contradictionSchema>;
