import { z } from 'zod';

/** Values that many documents have. */

/** SHA-256 in lower-case hex. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** A moment: RFC 3339 in UTC with milliseconds, of a day that the calendar has. */
export const timeSchema = z.iso.datetime({ precision: 3 });

/** The id of a run: a name of a folder on every store. */
export const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
export const runIdSchema = z.string().regex(RUN_ID);
