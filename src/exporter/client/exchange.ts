import type { EvidenceError } from '../../core/errors.ts';
import type { Scrub } from '../../core/secret.ts';
import type { TransferLog } from '../../verifier/bundle/documents.ts';
import type { Answer } from './answer.ts';

/**
 * Request and answer as the chain of custody records them. Request headers are never included, because they contain the
 * key.
 */
export type Exchange = NonNullable<TransferLog['steps'][number]['exchange']>;

const REQUEST_ID_HEADERS = ['x-request-id', 'x-correlation-id', 'x-amzn-requestid', 'request-id'];

/** Returns the id that the service gave a request; null if it gave none. */
export function requestIdOf(answer: Pick<Answer, 'header'>, scrub: Scrub): string | null {
  const named = REQUEST_ID_HEADERS.map((name) => answer.header(name)).find((value) => value !== null);
  return named === undefined ? null : scrub(named);
}

/** @param scrub removes the key, which headers and redirects may contain. */
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
  /** Body as received, in UTF-8. */
  text: string;
  /** `Date` header. */
  date: string | null;
  /** Created when it is read: most answers are never recorded, and hashing them takes time. */
  readonly exchange: Exchange;
  /** `Link` header (RFC 8288), as sent. */
  link: string | null;
}

/** Page of a list. Pages have a short record instead of an exchange, because a listing may have 100,000 of them. */
export interface PageAnswer extends Omit<JsonAnswer, 'text'> {
  received: ReceivedPage;
}

export interface ReceivedPage {
  /** Path and query, without the key. */
  path: string;
  bytes: number;
  /** Digest of the page, hex. */
  sha256: string;
}

/** Answer of any status: a refusal can be as informative as a success. */
export interface PlainAnswer {
  status: number;
  /** Decoded body, without the key, which a refusal may quote. */
  text: string;
  link: string | null;
  /** Error of a refusal, for callers that need the refused resource. */
  error: EvidenceError | null;
}
