import { z } from 'zod';
import { spanSchema } from '../claims/schemas.ts';
import { runIdSchema } from '../model/schemas.ts';

/** Finding of a run that contradicts the runs before it, and all that an acceptance covers. */
export const contradictionSchema = z.strictObject({
  run_id: runIdSchema,
  /** Code of the first finding that refutes. */
  finding: z.string(),
  message: z.string(),
  /** The entries that run had of the stream, with which later runs are compared; null for a stream that vanished. */
  seen: spanSchema.nullable(),
});
export type AcceptedFinding = z.infer<typeof contradictionSchema>;
