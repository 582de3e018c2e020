import type { z } from 'zod';

/** The form of a record, as its reader knows it. Whatever is written has to pass the same reader. */
export interface RecordFormat<T> {
  schema: z.ZodType<T>;
  /** A larger record is not read, and so not written. */
  maxBytes: number;
}
