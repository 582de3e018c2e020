import { z } from 'zod';
import { CLAIMS } from '../claims/claim.ts';

/**
 * The controls of a framework for which a run has evidence: a file of `templates/controls`, or one of the user's.
 * It stands in the run record, so that a report can be made again from the record alone.
 */
export const controlsSchema = z.strictObject({
  format: z.literal('evidence-controls/1'),
  /** The framework and its edition. */
  framework: z.string().min(1).max(200),
  /** Remarks on the mapping as a whole that a reader has to know. */
  note: z.string().max(2000).optional(),
  controls: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(60),
        title: z.string().min(1).max(300),
        /** The claims that speak to it. */
        claims: z.array(z.enum(CLAIMS)).min(1),
        /** Globs over stream ids; left out for all. */
        streams: z.array(z.string().min(1)).min(1).optional(),
        /** The use that the evidence can be put to. */
        speaks_to: z.string().min(1).max(1000),
        /** And where it ends. */
        does_not_show: z.string().min(1).max(1000),
      }),
    )
    .min(1)
    .max(500),
});
export type Controls = z.infer<typeof controlsSchema>;
