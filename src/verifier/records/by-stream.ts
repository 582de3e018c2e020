import { z } from 'zod';
import { RowMap } from '../../core/rows/map.ts';

/** By stream id. As pairs, because `z.record` drops the member `__proto__`, and a stream may have any id. */
export function streamMapOf<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : null),
    z
      .array(z.tuple([z.string(), schema]))
      .transform((pairs) => RowMap.of<z.output<Schema>>(pairs as [string, z.output<Schema>][])),
  );
}
