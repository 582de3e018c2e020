import { join } from 'node:path';
import { isEvidenceError } from '../../core/errors.ts';
import type { TransferLog } from '../../verifier/bundle/documents.ts';
import { asPart, PackageReader, type PackageReading } from '../../verifier/chain/package.ts';
import type { VendorVerdict } from '../../verifier/claims/agreement-vendor.ts';
import { type CompletenessBasis, entriesBeside, type NotListedBasis } from '../../verifier/claims/completeness.ts';
import { sectionOf } from '../../verifier/claims/overlap.ts';
import { lookOut } from '../../verifier/claims/past.ts';
import type { Unfetched } from '../../verifier/claims/schemas.ts';
import type { RecordedStatement } from '../../verifier/claims/statement.ts';
import { lastFetched } from '../../verifier/claims/unfetched.ts';
import { toFailure } from '../../verifier/model/failure.ts';
import { type ExportContext, pastOf, type RunState } from './context.ts';
import type { JobStep } from './events.ts';
import {
  type CompletenessMode,
  type Listed,
  type ListedFile,
  ListingCheck,
  observersOf,
  whyNotListed,
} from './listing.ts';
import { makePackage, receiveForms } from './package.ts';
import type { ListedStream } from './plan.ts';
import type { AccountPackage, AskedAt, ReceivedForms } from './received.ts';
import { listUnfetched } from './unfetched.ts';

export interface Received extends Omit<ReceivedForms, 'transferLog'> {
  packageId: string;
  reading: PackageReading;
  completeness: CompletenessBasis;
  /** Listing that the package was compared with; null if there is none. */
  listed: ListedFile | null;
  /** True if the API key may not list the entries. */
  isListingRefused: boolean;
  /** Answer of the service's own check of the stream; null if there was none. */
  checkAnswer: string | null;
  /** Number of entries that the service stated when the package was ready; null if not stated. */
  statedCount: number | null;
}

/** Observers of the JSON form, from its first byte on. */
interface JsonWatch extends Disposable {
  reader: PackageReader;
  /** Comparison with the listing, or the reason why there is none. */
  listing: ListingCheck | NotListedBasis;
}

/** Requests of one stream to the service, each recorded for the chain of custody. */
export class Collection {
  readonly transferLog: TransferLog['steps'] = [];
  readonly #context: ExportContext;
  readonly #run: RunState;
  readonly #stream: ListedStream;
  readonly #streamId: string;
  readonly #folder: string;
  #checkAnswer: string | null = null;

  constructor(context: ExportContext, run: RunState, stream: ListedStream, folder: string) {
    this.#context = context;
    this.#run = run;
    this.#stream = stream;
    this.#streamId = stream.streamId;
    this.#folder = folder;
  }

  /** Asks the service to check the stream itself. A failure is recorded; only this comparison is lost. */
  async askVendor(): Promise<VendorVerdict | null> {
    this.#announce('vendor-verify');
    try {
      const answer = await this.#context.service.client.verifyStream(this.#streamId);
      if (answer === null) {
        this.transferLog.push({ step: 'vendor-verify', skipped: 'not_in_contract' });
        return null;
      }
      const { verification, text, exchange } = answer;
      this.#checkAnswer = text;
      this.transferLog.push({ step: 'vendor-verify', exchange });
      return {
        verified: verification.verified,
        checked_at: verification.checkedAt,
        failed_sequences: verification.failedSequences,
      };
    } catch (error) {
      if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
      this.transferLog.push({ step: 'vendor-verify', failure: toFailure(error) });
      this.#report('vendor-verify', error.message);
      return null;
    }
  }

  /** Receives a package of this stream in all forms, and walks the chain while the JSON form arrives. */
  async receive(): Promise<Received> {
    this.#announce('generate');
    const { service } = this.#context;
    const made = await makePackage(service, this.#streamId, () => this.#announce('wait'));
    const { packageId, entryCount: statedCount } = made;
    using watches = new DisposableStack();
    let watch = watches.use(this.#watchJson(packageId));
    const { transferLog, ...forms } = await receiveForms(service, packageId, this.#folder, {
      begin: (form) => this.#announce(form),
      restart: (form) => {
        if (form !== 'json') return;
        watch[Symbol.dispose]();
        watch = watches.use(this.#watchJson(packageId));
      },
      chunk: async (form, chunk) => {
        this.#context.runtime.listen({ type: 'received', streamId: this.#streamId, form, bytes: chunk.length });
        if (form !== 'json') return;
        watch.reader.push(chunk);
        if (watch.listing instanceof ListingCheck) await watch.listing.catchUp();
      },
      failed: (form, message) => this.#report(form, message),
    });
    this.transferLog.push(...made.transferLog, ...transferLog);
    const absent = forms.missing.find(({ form }) => form === 'json');
    const whole = watch.reader.finish();
    const reading = absent === undefined ? whole : asPart(whole, absent.reason);
    const { basis: completeness, listed, failure } = await this.#endListing(watch, reading, made);
    const ofListing = { completeness, listed, isListingRefused: failure?.code === 'refused' };
    return { packageId, reading, ...forms, ...ofListing, checkAnswer: this.#checkAnswer, statedCount };
  }

  /** Requests the entries that the list of streams states and that neither this nor an earlier export contains. */
  async askUnfetched({ walk, defect }: PackageReading): Promise<Unfetched | null> {
    const { client, contract, packagePeriod } = this.#context.service;
    const { earlier } = pastOf(this.#run, this.#streamId);
    if (this.#mode !== 'listing' || defect !== null || earlier.length === 0) return null;
    const own = sectionOf(walk);
    const after = lastFetched(own, earlier) ?? contract.firstSequence - 1;
    const periods = [packagePeriod, ...earlier.map(({ period }) => period)];
    const unfetched = await listUnfetched(client, {
      streamId: this.#streamId,
      statement: this.statement,
      after,
      own,
      periods,
    });
    if (unfetched === null) return null;
    const { failure, to } = unfetched;
    const range = { from: after + 1, to };
    this.transferLog.push({ step: 'unfetched', range, ...(failure === null ? {} : { failure }) });
    return unfetched;
  }

  /** Returns this stream's part of the account's package. */
  receiveFrom(account: AccountPackage): Received {
    this.transferLog.push(...account.transferLog);
    const { packageId, files, missing, withKey } = account;
    return {
      packageId,
      reading: account.readingOf(this.#streamId),
      files,
      missing,
      withKey,
      completeness: {
        kind: 'record',
        code: 'account-package',
        reason: 'the package contains all streams, so the entries were not listed',
      },
      listed: null,
      isListingRefused: false,
      checkAnswer: this.#checkAnswer,
      // The stated count covers the whole account.
      statedCount: null,
    };
  }

  #watchJson(packageId: string): JsonWatch {
    const { service, trust } = this.#context;
    const { streamId, headSequence } = this.#stream;
    const listing = this.#notListed() ?? this.#beginListing();
    const check = listing instanceof ListingCheck ? listing : null;
    const reader = new PackageReader(service.contract, trust.sealKeys, {
      streamId,
      packageId,
      actions: true,
      ...lookOut(
        () => pastOf(this.#run, streamId),
        service.packagePeriod,
        () => entriesBeside(headSequence),
      ),
      ...observersOf(this.#run.supplements?.notes.begin(streamId) ?? null, check),
    });
    const dispose = () => {
      reader[Symbol.dispose]();
      check?.[Symbol.dispose]();
    };
    return { reader, listing, [Symbol.dispose]: dispose };
  }

  #beginListing(): ListingCheck {
    const { client, packagePeriod } = this.#context.service;
    return new ListingCheck(client, this.#stream, packagePeriod, join(this.#folder, 'listing'));
  }

  async #endListing({ listing }: JsonWatch, { defect }: PackageReading, asked: AskedAt): Promise<Listed> {
    const without = (basis: NotListedBasis): Listed => ({ basis, listed: null, failure: null });
    if (defect !== null) return without({ kind: 'none', code: 'not-read', reason: 'the JSON form could not be read' });
    if (!(listing instanceof ListingCheck)) return without(listing);
    this.#announce('listing');
    const ended = await listing.finish(asked, this.statement.headSequence);
    const outcome = ended.failure === null ? { listed: listing.listed } : { failure: toFailure(ended.failure) };
    this.transferLog.push({ step: 'listing', ...outcome });
    return ended;
  }

  get #mode(): CompletenessMode {
    return this.#context.question.scope.completeness;
  }

  /** Returns the reason why the entries are not listed; null if they are. */
  #notListed(): NotListedBasis | null {
    const off = 'verify.completeness is "off"';
    if (this.#mode === 'off') return { kind: 'none', code: 'listing-off', reason: off };
    const unlisted = 'the contract has no list of entries';
    if (!this.#context.service.client.listsEntries)
      return { kind: 'record', code: 'listing-not-in-contract', reason: unlisted };
    const why = whyNotListed(this.#mode, this.#stream);
    return why === null ? null : { kind: 'record', ...why };
  }

  /** Statement about this stream from the service's list. */
  get statement(): RecordedStatement {
    const { entryCount, headSequence, headDigest } = this.#stream;
    return { entryCount, headSequence, headDigest, readAt: this.#run.start.at.toISOString() };
  }

  #announce(step: JobStep): void {
    this.#context.runtime.signal.throwIfAborted();
    this.#context.runtime.listen({ type: 'step', streamId: this.#streamId, step });
  }

  #report(step: JobStep, message: string): void {
    this.#context.runtime.listen({ type: 'step-failed', streamId: this.#streamId, step, message });
  }
}
