import { z } from 'zod';
import { RUN_ID } from './run-id.ts';

/** Schemas of values that many documents share. */

/** SHA-256 in lower-case hex. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** RFC 3339 time in UTC with milliseconds, on a day that exists in the calendar. */
export const timeSchema = z.iso.datetime({ precision: 3 });

export const runIdSchema = z.string().regex(RUN_ID);

/** Format of a record as its reader knows it. Everything written must pass the same reader. */
export interface RecordFormat<T> {
  schema: z.ZodType<T>;
  /** Maximum size: larger records are neither read nor written. */
  maxBytes: number;
}

/** Member of a record that may be too long for memory: a list, or a map by stream id. */
export interface LongMember {
  /** Names from the outermost in. */
  path: readonly [string, ...string[]];
  kind: 'list' | 'map';
  /** Schema of a row of the list, or of a value of the map. */
  schema: z.ZodType;
}

/** Format of a record with members that may be too long for memory. */
export interface LongFormat<T> extends RecordFormat<T> {
  long: readonly LongMember[];
}
