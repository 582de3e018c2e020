import { z } from 'zod';
import { path } from './path-schema.ts';

/** Paging styles of a service's lists. */

/** Path below the address of the service. */
export const urlPath = z.string().regex(/^\/[^\s?#]*$/, 'must be a path that begins with "/"');
/** Name of a query parameter. */
export const parameter = z.string().min(1);

/**
 * True if the last page may lack the member that leads to the next page. Otherwise a list without it is cut off, not at
 * its end.
 */
const absent_at_end = z.boolean().default(true);

const pagingSchema = z.discriminatedUnion('style', [
  /** Everything in one answer. */
  z.strictObject({ style: z.literal('single') }),
  /** Text in the answer that requests the next page; null or "" on the last page. */
  z.strictObject({ style: z.literal('cursor'), next: path.min(1), absent_at_end, parameter }),
  /** Number of items before the page; the list ends with an empty page. */
  z.strictObject({ style: z.literal('offset'), parameter }),
  /** Number of the page; the list ends with an empty page. */
  z.strictObject({ style: z.literal('page'), parameter, first: z.int().min(0).max(1) }),
  /** URL of the next page in the answer's body or, if `next` is null, in its Link header (RFC 8288). */
  z.strictObject({ style: z.literal('link'), next: path.min(1).nullable(), absent_at_end }),
]);
export type Paging = z.infer<typeof pagingSchema>;

export const listSchema = z.strictObject({
  path: urlPath,
  /** Path of the array of items; empty if the answer is the array. */
  items: path,
  paging: pagingSchema,
  /** Number of items to request per page. */
  limit: z.strictObject({ parameter, size: z.int().min(1).max(10_000) }).nullable(),
});
export type List = z.infer<typeof listSchema>;
