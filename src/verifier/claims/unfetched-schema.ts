import { z } from 'zod';
import { timeSchema } from '../model/schemas.ts';

const number = z.int().min(0);

/**
 * Answer of the service about entries that the list of streams states and that no export has: it was asked for the
 * entries after the last one that this or an earlier export has.
 */
export const unfetchedSchema = z.strictObject({
  /** Number of that last entry; one less than the first number of a stream where no export has any. */
  after: z.int().min(-1),
  /** Number of the newest entry, as the list of streams states it. */
  to: number,
  /** Number of the entry that is listed next; null where none is. */
  next: number.nullable(),
  /**
   * Entries dated before the end of the newest period that was exported: consecutive numbers of one month, in order.
   */
  late: z.array(
    z.strictObject({ from: number, to: number, first_recorded_at: timeSchema, last_recorded_at: timeSchema }),
  ),
  /** True where there may be more of them than were asked for. */
  more: z.boolean(),
  /** The reason that the service did not answer; null if it did. */
  failure: z.string().nullable(),
});
export type Unfetched = z.infer<typeof unfetchedSchema>;
export type LateRange = Unfetched['late'][number];
