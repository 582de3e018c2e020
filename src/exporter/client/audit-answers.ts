import { sha256 } from '../../core/digest.ts';
import { cutText, isWellFormedJson, visibleText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import { grouped } from '../../core/plurals.ts';
import type { Scrub } from '../../core/secret.ts';
import type { EntryAnswer, StreamAnswer } from '../../verifier/profile/answers.ts';
import type { ReceivedPage } from './exchange.ts';
import type { KnownItems } from './page-reader.ts';

/** An entry as a list shows it. */
export type EntryListItem = Omit<EntryAnswer, 'streamId'>;

/** Entries of one answer of a list. */
export interface EntriesPage {
  /** The number of the known ones before the others. */
  matched: number;
  entries: EntryListItem[];
  /** The pages that they are from; an unordered list is given at once. */
  received: PageOfEntries[];
}

/** A page as it was received, and how many entries of the period stand in it: each is a line of the listing. */
export interface PageOfEntries extends ReceivedPage {
  entries: number;
}

/** A stream as the service lists it, read and in its own words. */
export interface ListedStreamAnswer extends StreamAnswer {
  /** JSON; the key is not in it. */
  record: string;
}

/** Bounds and expectations of a reader of a list of entries. */
export interface EntriesOptions {
  /** Entries of the stream and the period that are expected next, in the order of the list if it is ascending. */
  known?: KnownItems;
  /** Entries that the list may show by now, of the period and others. */
  most?: () => number;
}

/** A larger record is no record of a stream: it is archived with each bundle. */
const MAX_RECORD_BYTES = 2 ** 20;

/**
 * A record that is too large, or that holds the API key, is drift of its stream alone, and is not kept: another text in
 * its place would not state what the claims rest on.
 */
export function withRecord(stream: StreamAnswer, record: string, scrub: Scrub): ListedStreamAnswer {
  const drift = whyNotKept(record, scrub);
  if (drift === null) return { ...stream, record };
  return { ...stream, entryCount: null, headSequence: null, headDigest: null, lastCheckedAt: null, drift, record: '' };
}

function whyNotKept(record: string, scrub: Scrub): string | null {
  const bytes = Buffer.byteLength(record);
  if (bytes > MAX_RECORD_BYTES)
    return `its record has ${grouped(bytes)} bytes, and may have ${grouped(MAX_RECORD_BYTES)}`;
  return scrub(record) === record ? null : 'its record in the list holds the API key';
}

/** Code units of an id. Longer ones fit into no address, and every record has them many times. */
const MAX_ID = 1024;
const SHOWN_OF_ID = 60;

/**
 * The name under which a stream is exported: its id. One whose id or record cannot be recorded is not exported; the run
 * names it so that it can be told from others.
 */
export function nameStream(
  { streamId, drift }: Pick<ListedStreamAnswer, 'streamId' | 'drift'>,
  item: Json,
): Pick<ListedStreamAnswer, 'streamId' | 'drift'> {
  const name = visibleText(streamId);
  if (streamId.length > MAX_ID)
    return {
      streamId: `${cutText(streamId, SHOWN_OF_ID)} (SHA-256 ${sha256(name)})`,
      drift: `its id has ${streamId.length} characters, and at most ${MAX_ID} are taken`,
    };
  if (isWellFormedJson(item)) return { streamId, drift };
  return { streamId: name, drift: 'its record in the list has half of a surrogate pair, which no UTF-8 text can have' };
}
