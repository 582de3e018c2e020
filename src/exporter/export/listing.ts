import { closeSync, openSync, writeSync } from 'node:fs';
import { StreamingSha256 } from '../../core/digest.ts';
import { type EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { ServiceDocument } from '../../verifier/bundle/documents.ts';
import type { PackageExpectation } from '../../verifier/chain/package.ts';
import type { CompletenessBasis } from '../../verifier/claims/completeness.ts';
import { ListingMerge, type ListingObserver } from '../../verifier/claims/listing.ts';
import { lineOf, linesOf } from '../../verifier/claims/listing-text.ts';
import type { NotListed } from '../../verifier/claims/schemas.ts';
import type { StreamStatement } from '../../verifier/claims/statement.ts';
import { entryOf, type SentEntries } from '../../verifier/model/batch.ts';
import type { Question } from '../../verifier/records/question.ts';
import type { NotedEntries } from '../../verifier/verify/noted-entries.ts';
import type { AuditClient } from '../client/audit.ts';
import type { EntryListItem, PageOfEntries } from '../client/audit-answers.ts';
import { inPeriod, type Period } from '../client/period.ts';
import type { ListedStream } from './plan.ts';
import type { AskedAt } from './received.ts';

/** Proof of completeness: by listing the entries, by the stream record alone, or none. */
export type CompletenessMode = 'listing' | 'record' | 'off';

/**
 * Maximum number of entries to list. Larger streams are compared with their record, because listing them takes longer
 * than exporting them.
 */
const MAX_LISTED = 250_000;
/** Maximum lead of an honest service's clock. */
const DAY_MS = 86_400_000;
/** Maximum number of entries to compare for a stream without a stated count. */
const MAX_COMPARED = 2 * MAX_LISTED;
/** Number of entries that a listing may exceed twice the known count by, because the stream may have grown. */
const MAX_GROWN = 100;

/** Listing as stored in a bundle: the file and its origin. */
export interface ListedFile {
  file: string;
  bytes: number;
  sha256: string;
  service: NonNullable<ServiceDocument['listing']>;
}

/** Stream with the statements that bound its list of entries. */
type Stated = Pick<ListedStream, 'streamId' | 'entryCount' | 'headSequence'>;

/** Result of a comparison with the listing. */
export interface Listed {
  basis: CompletenessBasis;
  /** Stored listing; null if the service refused to list, or if the listing is not to be kept. */
  listed: ListedFile | null;
  /** Error that ended the listing; null if it was read, or not requested. */
  failure: EvidenceError | null;
}

/**
 * Compares the entries of one package with the service's own listing of them while the package arrives. `catchUp`
 * fetches the listing as far as the package has been read, so neither is ever completely in memory.
 */
export class ListingCheck implements Disposable {
  readonly #merge: ListingMerge;
  readonly #pages: ReturnType<AuditClient['listEntries']>;
  readonly #isWithin: ReturnType<typeof inPeriod>;
  readonly #file: ListingFile | null;
  readonly #received: PageOfEntries[] = [];
  readonly #stated: number | null;
  #failure: EvidenceError | null = null;
  #listed = 0;
  #packaged = 0;

  /** @param path of the file that the listing is written to as it arrives; null if it is not to be kept. */
  constructor(client: AuditClient, stream: Stated, period: Period, path: string | null) {
    const { streamId, entryCount, headSequence } = stream;
    this.#stated = entryCount === null && headSequence === null ? null : Math.max(entryCount ?? 0, headSequence ?? 0);
    this.#file = path === null ? null : new ListingFile(path);
    const merge = new ListingMerge(streamId, this.#file?.observer);
    this.#merge = merge;
    this.#isWithin = inPeriod(period);
    this.#pages = client.listEntries(streamId, period, {
      known: { match: (text, at) => merge.match(text, at) },
      most: () => this.#most,
    });
  }

  /** Maximum number of entries that an honest listing can have so far. */
  get #most(): number {
    if (this.#stated === null) return MAX_COMPARED;
    return Math.min(MAX_COMPARED, 2 * Math.max(this.#stated, this.#packaged) + MAX_GROWN);
  }

  add({ sequence, digest, timestamp }: EntryListItem): void {
    this.#packaged++;
    if (this.#failure === null) this.#merge.fromPackage({ sequence, digest, timestamp });
  }

  /** Adds consecutive entries with ascending times. */
  addSent(entries: SentEntries): void {
    this.#packaged += entries.count;
    if (this.#failure !== null) return;
    const last = entries.count - 1;
    // An entry outside the period counts as missing from the listing, whatever the service lists, so such a batch is
    // compared entry by entry.
    if ([0, last].every((index) => this.#isWithin({ timestamp: entries.timestamp(index) })))
      this.#merge.fromPackageAsSent(entries);
    else for (let index = 0; index <= last; index++) this.#merge.fromPackage(entryOf(entries, index));
  }

  async catchUp(): Promise<void> {
    while (this.#failure === null && this.#merge.wantsListing) await this.#fetchPage();
  }

  /** Counts for the chain of custody. */
  get listed(): { entries: number; pages: number } {
    return { entries: this.#listed, pages: this.#received.length };
  }

  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
  }

  /**
   * Ends the comparison after the package has ended.
   * @param statedHead sequence number of the newest entry, as stated earlier in the list of streams.
   */
  async finish({ askedAt, askedAtByService }: AskedAt, statedHead: number | null): Promise<Listed> {
    const latest = Date.now() + DAY_MS;
    if (this.#failure === null) this.#merge.endPackage({ askedAt, askedAtByService, statedHead, latest });
    await this.catchUp();
    await this.#pages.return(undefined);
    if (this.#failure !== null) {
      const reason = `the entries could not be listed (${this.#failure.message})`;
      return { basis: { kind: 'record', code: 'listing-failed', reason }, listed: null, failure: this.#failure };
    }
    const basis: CompletenessBasis = { kind: 'listing', ...this.#merge.result() };
    if (this.#file === null) return { basis, listed: null, failure: null };
    const service = {
      pages: this.#received,
      asked_at: toTime(askedAt),
      asked_at_by_service: askedAtByService === null ? null : toTime(askedAtByService),
      latest: toTime(latest),
    };
    return { basis, listed: { ...this.#file.finish(), service }, failure: null };
  }

  async #fetchPage(): Promise<void> {
    try {
      const { done, value } = await this.#pages.next();
      if (done === true) {
        this.#merge.endListing();
        return;
      }
      this.#received.push(...value.received);
      this.#listed += value.matched + value.entries.length;
      this.#merge.fromListing(value.entries, value.matched);
    } catch (error) {
      if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
      this.#failure = error;
    }
  }
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/**
 * Reports whether an export is incomplete without the list of entries. A stream record only covers the whole stream.
 */
export function needsListing(
  { completeness, required_claims: required }: Pick<Question['scope'], 'completeness' | 'required_claims'>,
  { from, to }: Period,
): boolean {
  const isWhole = from === null && to === null;
  return completeness === 'listing' && required.includes('completeness') && !isWhole;
}

/** Returns the reason that a stream is not listed; null if it is. */
export function whyNotListed(mode: CompletenessMode, { entryCount }: StreamStatement): NotListed | null {
  if (mode === 'record') return { code: 'listing-not-requested', reason: 'verify.completeness is "record"' };
  if ((entryCount ?? 0) > MAX_LISTED)
    return { code: 'listing-too-long', reason: `${entryCount} entries are too many to list` };
  return null;
}

const BLOCK_CHARACTERS = 256 * 1024;

/** Listing of a stream for its bundle, written as it arrives. */
class ListingFile implements Disposable {
  readonly path: string;
  readonly #digest = new StreamingSha256();
  #file: number | null;
  #text = '';

  /** Overwrites an existing file. */
  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, 'w');
  }

  readonly observer: ListingObserver = {
    matched: (entries, from, to) => this.#add(linesOf(entries, from, to)),
    listed: (entry, withTime) => this.#add(lineOf(entry, { withTime })),
  };

  /** Ends the file. Must be called once. */
  finish(): { file: string; bytes: number; sha256: string } {
    this.#write();
    this[Symbol.dispose]();
    return { file: this.path, ...this.#digest.finish() };
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length >= BLOCK_CHARACTERS) this.#write();
  }

  #write(): void {
    const bytes = Buffer.from(this.#text, 'latin1');
    this.#text = '';
    this.#digest.update(bytes);
    for (let at = 0; at < bytes.length && this.#file !== null; ) at += writeSync(this.#file, bytes, at);
  }
}

type Observers = Pick<PackageExpectation, 'onEntry' | 'onSent'>;

/** Returns package observers that forward entries to the notes and to the listing, if present. */
export function observersOf(notes: NotedEntries | null, listing: ListingCheck | null): Observers {
  if (listing === null && notes === null) return {};
  return {
    onEntry: (entry) => {
      notes?.onEntry(entry);
      listing?.add(entry);
    },
    onSent: (entries) => {
      notes?.onSent(entries);
      // The listing releases the entries after it has read them.
      if (listing === null) entries.release();
      else listing.addSent(entries);
    },
  };
}
