import { z } from 'zod';

/** Returns the schema of a list page: `{"data": […], "next_cursor": string | null}`. */
export function pageSchema<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullable() });
}

/** Problem details of RFC 9457, with our stable `code`. */
export const problemSchema = z.looseObject({
  type: z.string().optional(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string().optional(),
});
export type WireProblem = z.infer<typeof problemSchema>;
