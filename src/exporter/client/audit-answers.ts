import { sha256 } from '../../core/digest.ts';
import { cutText, isWellFormedJson, visibleText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import { grouped } from '../../core/plurals.ts';
import type { Scrub } from '../../core/secret.ts';
import type { EntryAnswer, StreamAnswer } from '../../verifier/profile/answers.ts';
import type { ReceivedPage } from './exchange.ts';
import type { KnownItems } from './page-reader.ts';

/** Entry as a list shows it. */
export type EntryListItem = Omit<EntryAnswer, 'streamId'>;

/** Entries of one page of a list. */
export interface EntriesPage {
  /** Number of known entries before the others. */
  matched: number;
  entries: EntryListItem[];
  /** Pages that the entries came from. An unordered list is returned as a whole. */
  received: PageOfEntries[];
}

/** Page as it was received, with its number of entries in the period; each of them is a line of the listing. */
export interface PageOfEntries extends ReceivedPage {
  entries: number;
}

/** Stream as the service lists it, parsed and as received. */
export interface ListedStreamAnswer extends StreamAnswer {
  /** Record as JSON, without the API key. */
  record: string;
}

/** Limits and expectations for reading a list of entries. */
export interface EntriesOptions {
  /** Entries of the stream and the period that are expected next, in list order if the list is ascending. */
  known?: KnownItems;
  /** Maximum number of entries that the list may contain so far, inside and outside the period. */
  most?: () => number;
}

/** Maximum size of a stream's record, which is archived with each bundle. */
const MAX_RECORD_BYTES = 2 ** 20;

/**
 * Adds the record to a stream. A record that is too large or contains the API key is drift of that stream and is not
 * kept: a modified text would not state what the claims depend on.
 */
export function withRecord(stream: StreamAnswer, record: string, scrub: Scrub): ListedStreamAnswer {
  const drift = whyNotKept(record, scrub);
  if (drift === null) return { ...stream, record };
  return { ...stream, entryCount: null, headSequence: null, headDigest: null, lastCheckedAt: null, drift, record: '' };
}

function whyNotKept(record: string, scrub: Scrub): string | null {
  const bytes = Buffer.byteLength(record);
  if (bytes > MAX_RECORD_BYTES)
    return `its record has ${grouped(bytes)} bytes; the maximum is ${grouped(MAX_RECORD_BYTES)}`;
  return scrub(record) === record ? null : 'its record in the list contains the API key';
}

/**
 * Maximum length of an id in code units. Longer ids do not fit into addresses, and every record repeats the id many
 * times.
 */
const MAX_ID = 1024;
const SHOWN_OF_ID = 60;

/**
 * Returns the name under which a stream is exported: its id. A stream whose id or record cannot be recorded is not
 * exported, and gets a name that distinguishes it from others.
 */
export function nameStream(
  { streamId, drift }: Pick<ListedStreamAnswer, 'streamId' | 'drift'>,
  item: Json,
): Pick<ListedStreamAnswer, 'streamId' | 'drift'> {
  const name = visibleText(streamId);
  if (streamId.length > MAX_ID)
    return {
      streamId: `${cutText(streamId, SHOWN_OF_ID)} (SHA-256 ${sha256(name)})`,
      drift: `its id has ${streamId.length} characters; the maximum is ${MAX_ID}`,
    };
  if (isWellFormedJson(item)) return { streamId, drift };
  return { streamId: name, drift: 'its record in the list contains an unpaired surrogate, which is not valid UTF-8' };
}
