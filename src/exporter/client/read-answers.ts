import type { EvidenceError } from '../../core/errors.ts';
import type { Exchange } from './exchange.ts';

export interface JsonAnswer {
  value: unknown;
  /** As it was received, in UTF-8. */
  text: string;
  /** The `Date` header. */
  date: string | null;
  /** Made when it is asked for: most answers are never recorded, and to hash them takes time. */
  readonly exchange: Exchange;
  /** The `Link` header (RFC 8288), as sent. */
  link: string | null;
}

/** A page of a list, with what is recorded of a listing, which may have 100,000 of them, in the place of exchanges. */
export interface PageAnswer extends Omit<JsonAnswer, 'text'> {
  received: ReceivedPage;
}

export interface ReceivedPage {
  /** Path and query, without the key. */
  path: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

/** An answer of whatever status: a refusal can tell as much as a success. */
export interface PlainAnswer {
  status: number;
  /** Decoded; the key, which a refusal may quote, is not in it. */
  text: string;
  link: string | null;
  /** The error of a refusal, for somebody who needs what was refused. */
  error: EvidenceError | null;
}
