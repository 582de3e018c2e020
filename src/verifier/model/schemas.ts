import { z } from 'zod';
import { RUN_ID } from './run-id.ts';

/** Values that many documents have. */

/** SHA-256 in lower-case hex. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** A moment: RFC 3339 in UTC with milliseconds, of a day that the calendar has. */
export const timeSchema = z.iso.datetime({ precision: 3 });

export const runIdSchema = z.string().regex(RUN_ID);
