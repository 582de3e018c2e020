import { z } from 'zod';
import { CLAIMS } from '../claims/claim.ts';

/**
 * Controls of a framework for which a run has evidence, from a file in `templates/controls` or one of the operator's.
 * Part of the run record, so that a report can be made again from the record alone.
 */
export const controlsSchema = z.strictObject({
  format: z.literal('evidence-controls/1'),
  /** Framework and its edition. */
  framework: z.string().min(1).max(200),
  /** Remarks on the whole mapping that a reader must know. */
  note: z.string().max(2000).optional(),
  controls: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(60),
        title: z.string().min(1).max(300),
        /** Claims that bear on the control. */
        claims: z.array(z.enum(CLAIMS)).min(1),
        /** Globs over stream ids; absent for all streams. */
        streams: z.array(z.string().min(1)).min(1).optional(),
        /** Use of the evidence for the control. */
        speaks_to: z.string().min(1).max(1000),
        /** Limits of that use. */
        does_not_show: z.string().min(1).max(1000),
      }),
    )
    .min(1)
    .max(500),
});
export type Controls = z.infer<typeof controlsSchema>;
