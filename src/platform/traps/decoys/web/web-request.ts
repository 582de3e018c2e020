import type { Headers } from './headers.ts';
import type { HttpVersion } from './request-line.ts';

/** Statuses with a page of nginx; 494 and 497 are its own numbers of two kinds of 400. */
export type PageStatus = 400 | 404 | 405 | 413 | 414 | 494 | 497 | 501 | 505;

/** A request as nginx passes it on. */
export interface WebRequest {
  method: string;
  /** As it came. */
  target: string;
  /** Decoded, without `.`, `..` and empty parts. */
  path: string;
  query: string;
  version: HttpVersion;
  headers: Headers;
  /** The line and the headers, as they came. */
  head: Buffer;
  /** Its beginning, at least. */
  body: Buffer;
  keepsAlive: boolean;
  /** With what it is refused, whatever it is for; null for a request that is carried out. */
  refused: PageStatus | null;
}
