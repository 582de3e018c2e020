import type { EntryAnswer, StreamAnswer } from '../../verifier/profile/answers.ts';
import type { ReceivedPage } from './read-answers.ts';

/** An entry as a list shows it. */
export type EntryListItem = Omit<EntryAnswer, 'streamId'>;

/** Entries of one answer of a list. */
export interface EntriesPage {
  /** How many of the known ones stand before the others. */
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
