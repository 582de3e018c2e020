import type { EvidenceError } from '../../core/errors.ts';
import type { Scrub } from '../../core/secret.ts';
import type { TransferLog } from '../../verifier/bundle/documents.ts';
import type { Answer } from './answer.ts';

/** One request and its answer, as the chain of custody records it. Never the request's headers: they hold the key. */
export type Exchange = NonNullable<TransferLog['steps'][number]['exchange']>;

const REQUEST_ID_HEADERS = ['x-request-id', 'x-correlation-id', 'x-amzn-requestid', 'request-id'];

/** The id that the service gave a request; null where it gave none. */
export function requestIdOf(answer: Pick<Answer, 'header'>, scrub: Scrub): string | null {
  const named = REQUEST_ID_HEADERS.map((name) => answer.header(name)).find((value) => value !== null);
  return named === undefined ? null : scrub(named);
}

/** @param scrub takes out the key, which any header may quote, and a redirect too. */
export function toExchange(
  answer: Answer,
  attempts: number,
  content: { bytes: number; sha256: string },
  scrub: Scrub,
): Exchange {
  const { call, url, status, requestedAt } = answer;
  const header = (name: string) => {
    const value = answer.header(name);
    return value === null ? null : scrub(value);
  };
  return {
    method: call.method,
    path: scrub(url.pathname + url.search),
    requested_at: requestedAt,
    status,
    date: header('date'),
    request_id: requestIdOf(answer, scrub),
    attempts,
    ...content,
  };
}

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
