import { z } from 'zod';
import { path } from './path-schema.ts';

/** Ways in which a service's lists go on. */

/** Below the address of the service. */
export const urlPath = z.string().regex(/^\/[^\s?#]*$/, 'must be a path that begins with "/"');
/** The name of a query parameter. */
export const parameter = z.string().min(1);

/** True if the last page may lack what leads to the next one. Otherwise a list that lacks it is cut off, not at its end. */
const absent_at_end = z.boolean().default(true);

const pagingSchema = z.discriminatedUnion('style', [
  /** All of it in one answer. */
  z.strictObject({ style: z.literal('single') }),
  /** The answer holds a text that asks for the next page; null or "" after the last one. */
  z.strictObject({ style: z.literal('cursor'), next: path.min(1), absent_at_end, parameter }),
  /** By the number of items before the page; the list ends with an empty page. */
  z.strictObject({ style: z.literal('offset'), parameter }),
  /** By the number of the page; the list ends with an empty page. */
  z.strictObject({ style: z.literal('page'), parameter, first: z.int().min(0).max(1) }),
  /** The answer holds the URL of the next page, in its body or, where `next` is null, in its Link header (RFC 8288). */
  z.strictObject({ style: z.literal('link'), next: path.min(1).nullable(), absent_at_end }),
]);
export type Paging = z.infer<typeof pagingSchema>;

export const listSchema = z.strictObject({
  path: urlPath,
  /** The path of the array of items; empty when the answer is the array. */
  items: path,
  paging: pagingSchema,
  /** The number of items to ask for at once. */
  limit: z.strictObject({ parameter, size: z.int().min(1).max(10_000) }).nullable(),
});
export type List = z.infer<typeof listSchema>;
