import { z } from 'zod';
import { RUN_ID } from './run-id.ts';

/** Values that many documents have. */

/** SHA-256 in lower-case hex. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** A moment: RFC 3339 in UTC with milliseconds, of a day that the calendar has. */
export const timeSchema = z.iso.datetime({ precision: 3 });

export const runIdSchema = z.string().regex(RUN_ID);

/** The form of a record, as its reader knows it. Whatever is written has to pass the same reader. */
export interface RecordFormat<T> {
  schema: z.ZodType<T>;
  /** A larger record is not read, and so not written. */
  maxBytes: number;
}

/** A member of a record that is a list, or a map by stream id, and may be too long for memory. */
export interface LongMember {
  /** Names from the outermost in. */
  path: readonly [string, ...string[]];
  kind: 'list' | 'map';
  /** The schema of a row of the list, or of a value of the map. */
  schema: z.ZodType;
}

/** A record with members that may be too long for memory. */
export interface LongFormat<T> extends RecordFormat<T> {
  long: readonly LongMember[];
}
