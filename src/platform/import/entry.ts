import type { Json } from '../../core/json/canonical.ts';

/** One event on its way into the audit service: the body of `POST /entries/` with the event's own id as its key. */
export interface ImportedEntry {
  stream_id: string;
  actor: string;
  action: string;
  resource_type: string;
  resource_id: string;
  metadata?: { [name: string]: Json };
  /** RFC 3339. Left out when the source does not say when it happened. */
  occurred_at?: string;
  idempotency_key: string;
}

/** The service takes texts of 1 to 1024 characters in the fields that have a column of their own. */
const MAX_FIELD = 1024;

/** And of UTF-8 in the id of a stream. */
const MAX_STREAM_ID_BYTES = 2048;

/**
 * `text` as the service takes it: never empty (`-`), well-formed Unicode without U+0000, cut with an ellipsis at 1024 UTF-16 code
 * units. Callers keep the whole of a text that can be longer in the metadata.
 */
export function toField(text: string): string {
  const wellFormed = text.toWellFormed().replaceAll('\0', '\uFFFD');
  if (wellFormed === '') return '-';
  if (wellFormed.length <= MAX_FIELD) return wellFormed;
  // The cut can fall between the two halves of a surrogate pair.
  return `${wellFormed.slice(0, MAX_FIELD - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The same for the id of a stream, which is cut earlier where its characters take more bytes. */
export function toStreamId(text: string): string {
  const bytes = Buffer.from(toField(text));
  if (bytes.length <= MAX_STREAM_ID_BYTES) return bytes.toString();
  const cut = bytes.subarray(0, MAX_STREAM_ID_BYTES - Buffer.byteLength('…')).toString();
  return `${cut.replace(/\uFFFD+$/, '')}…`;
}
