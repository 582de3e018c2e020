import { z } from 'zod';
import { periodSchema, scopeSchema, sourceSchema } from './question.ts';
import { operatorSchema } from './record.ts';

/** `runs/<run-id>/asked.json`: what the run is asked for, written before anything else of it. */
export const askedSchema = z.strictObject({
  format: z.literal('evidence-asked/1'),
  run_id: z.string(),
  source: sourceSchema,
  period: periodSchema,
  scope: scopeSchema,
  begun_at: z.string(),
  /** Who began it. */
  operator: operatorSchema,
  /** See `export/binding.ts`. */
  binding: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
});
export type Asked = z.infer<typeof askedSchema>;
