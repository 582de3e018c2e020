// Over 250 lines: every operation of the service, in one class.

import { randomUUID } from 'node:crypto';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import { plural } from '../../core/plurals.ts';
import type { Scrub, SecretWatch } from '../../core/secret.ts';
import {
  type AnswerReader,
  answerReader,
  type EntryAnswer,
  fillIn,
  type GenerateAnswer,
  type MadeAnswer,
  selectsPeriod,
  type VerifyAnswer,
} from '../../verifier/profile/answers.ts';
import type { Description } from '../../verifier/profile/description.ts';
import {
  type EntriesOptions,
  type EntriesPage,
  type EntryListItem,
  type ListedStreamAnswer,
  nameStream,
  withRecord,
} from './audit-answers.ts';
import type { Call } from './call.ts';
import type { Downloaded, Observer } from './download.ts';
import type { Exchange, JsonAnswer, ReceivedPage } from './exchange.ts';
import { inPath, type Operation, operationsOf, selectionOf } from './operations.ts';
import type { KnownItems } from './page-reader.ts';
import { ASK_OPERATOR, atAddress, type Page, readPages } from './pages.ts';
import { ALL_TIME, inPeriod, type Period } from './period.ts';
import { ODD_STREAM, OTHER_SERVICE, SERVICE_CHANGED } from './problem.ts';
import { untilReady } from './retry.ts';
import { tryRights } from './rights.ts';
import type { Transport } from './transport.ts';

export type Form = 'json' | 'pdf' | 'summary';

interface DescribedService {
  /** With or without slashes at its end. */
  url: string;
  description: Description;
  /** True if the description was pinned for this very service, so that what differs has changed since. */
  pinned: boolean;
  /** Ends every waiting. */
  signal: AbortSignal;
}

/** A list of more streams is taken for one that never ends. */
const MAX_STREAMS = 100_000;

/** Code points of a foreign id in a message. */
export const SHOWN_OF_ID = 60;

/** The audit service's operations that an export needs, as its contract describes them. */
// Over ten members: each is an operation of the service.
export class AuditClient {
  readonly #transport: Transport;
  readonly #base: string;
  readonly #description: Description;
  readonly #pinned: boolean;
  readonly #signal: AbortSignal;
  readonly #answers: AnswerReader;

  constructor(transport: Transport, { url, description, pinned, signal }: DescribedService) {
    this.#transport = transport;
    this.#base = url.replace(/\/+$/, '');
    this.#description = description;
    this.#pinned = pinned;
    this.#signal = signal;
    this.#answers = answerReader(description);
  }

  /** Returns what a package of a period holds: the period, or all there is, if the service cannot select. */
  packagePeriod(period: Period): Period {
    return selectsPeriod(this.#description) ? period : ALL_TIME;
  }

  /** The contract that its answers are read by. */
  get description(): Description {
    return this.#description;
  }

  /** Tells what to do about a stream that does not fit the contract. */
  get driftAdvice(): { nextStep: string } {
    return this.#pinned ? SERVICE_CHANGED : ODD_STREAM;
  }

  /** Takes the key of this client out of a text. */
  readonly scrub: Scrub = (text) => this.#transport.scrub(text);

  /** Finds the key of this client in what is downloaded. */
  watchKey(): SecretWatch {
    return this.#transport.watchKey();
  }

  /** The forms that the service has. */
  get forms(): readonly Form[] {
    const { downloads } = this.#description;
    return (['json', 'pdf', 'summary'] as const).filter((form) => downloads[form] !== null);
  }

  /** Its requests, for somebody who wants to repeat them; paths from the origin on. */
  operations(period: Period, listsEntries: boolean): Operation[] {
    const base = new URL(this.#base).pathname.replace(/\/$/, '');
    const operations = operationsOf(this.#description, this.packagePeriod(period), listsEntries);
    return operations.map((operation) => ({ ...operation, path: base + operation.path }));
  }

  get listsEntries(): boolean {
    return this.#description.entries !== null;
  }

  /** The smallest page of streams that the service gives: whether it can be spoken to. */
  async firstPage(): Promise<Pick<Page, 'items' | 'date'>> {
    const { streams } = this.#description;
    const smallest = streams.limit === null ? streams : { ...streams, limit: { ...streams.limit, size: 1 } };
    for await (const page of atAddress(this.#pages(smallest, {}))) return page;
    return { items: [], date: null };
  }

  /**
   * A stream that does not fit the contract is drift of that stream. Where no contract was pinned and no stream fits
   * the default one, the service speaks another.
   * @param onPage is told each page that arrives, and its Date header.
   * @throws EvidenceError `contract` for a service that speaks another one, once its list has ended.
   */
  async *listStreams(
    onPage: (page: ReceivedPage & { streams: number }, date: string | null) => void = () => {},
  ): AsyncGenerator<ListedStreamAnswer> {
    const { streams } = this.#description;
    let listed = 0;
    let fitting = 0;
    let misfit: string | null = null;
    for await (const { url, items, date, received } of atAddress(this.#pages(streams, {}))) {
      onPage({ ...received, streams: items.length }, date);
      for (const item of items) {
        const stream = this.#read(url, () => this.#answers.stream(item));
        this.#transport.refuseKey(url, stream.streamId);
        if (stream.drift === null) fitting += 1;
        else misfit ??= `the answer of ${url}: ${stream.drift}`;
        const named = { ...stream, ...nameStream(stream, item) };
        yield withRecord(named, JSON.stringify(item), this.scrub);
      }
      listed += items.length;
      if (listed > MAX_STREAMS)
        throw new EvidenceError('service', `${url} goes on after ${listed} streams: its list never ends`, ASK_OPERATOR);
    }
    if (misfit !== null && fitting === 0 && !this.#pinned) throw this.#otherContract(misfit);
  }

  /**
   * The stream's entries of a period, in pages, in the order of their sequence.
   * @throws EvidenceError `service` when the service lists entries of other streams too, or more than `most`.
   */
  async *listEntries(
    streamId: string,
    period: Period,
    { known, most = () => Number.POSITIVE_INFINITY }: EntriesOptions = {},
  ): AsyncGenerator<EntriesPage> {
    const { entries: list } = this.#description;
    if (list === null) throw new EvidenceError('service', 'the contract knows no list of entries');
    const within = inPeriod(period);
    const unordered: EntriesPage = { matched: 0, entries: [], received: [] };
    const expected = list.order === 'ascending' ? known : undefined;
    let read = 0;
    const filter = selectionOf(list, streamId, period);
    for await (const { url, known: matched, items, received } of this.#pages(list, filter, expected)) {
      read += matched + items.length;
      if (read > most())
        throw new EvidenceError('service', `${url} lists more than ${plural(most(), 'entry')}: its list never ends`);
      const entries = this.#entriesOf(url, items, streamId);
      const page = entries.filter(within).map(({ streamId: _id, ...entry }) => entry);
      const pages = [{ ...received, entries: matched + page.length }];
      if (list.order === 'ascending') yield { matched, entries: page, received: pages };
      else {
        for (const entry of page) unordered.entries.push(entry);
        unordered.received.push(...pages);
      }
    }
    if (list.order === 'ascending') return;
    unordered.entries.sort((a, b) => a.sequence - b.sequence);
    yield unordered;
  }

  /**
   * Tells if the key may do what an export does.
   * @param listed a stream that the service lists; null if it lists none.
   * @param needsListing an export is incomplete without the list of entries.
   * @returns why the service does not check streams for this key; null if it does.
   * @throws EvidenceError `refused` if it may not export.
   */
  async tryRights(listed: string | null, needsListing: boolean): Promise<EvidenceError | null> {
    const list = async (streamId: string, period: Period) => {
      for await (const _entries of this.listEntries(streamId, period)) return;
    };
    const make = async (streamId: string, period: Period) =>
      (await this.generate(streamId, period, randomUUID())).generated.packageId;
    const [transport, base, description] = [this.#transport, this.#base, this.#description];
    return tryRights({
      transport,
      base,
      description,
      listed,
      list: needsListing && this.listsEntries ? list : null,
      make,
    });
  }

  /** True if the service lists the entries after a number. */
  get listsAfter(): boolean {
    return this.#description.entries?.after_parameter != null;
  }

  /**
   * The entries of a stream with a higher number than `after`, in pages, in the order of their sequence.
   * @param limit entries that a page is asked for, where the service lets itself be asked; its usual page unless told.
   * @throws EvidenceError as `listEntries` does, and `service` for an entry that was not asked for.
   */
  async *listAfter(streamId: string, after: number, period: Period, limit?: number): AsyncGenerator<EntryListItem[]> {
    const { entries: list } = this.#description;
    if (list === null || list.after_parameter === null) throw new TypeError('the contract knows no such list');
    const asked =
      limit === undefined || list.limit === null ? list : { ...list, limit: { ...list.limit, size: limit } };
    const filter = {
      ...selectionOf(list, streamId, period),
      ...(after < 0 ? {} : { [list.after_parameter]: String(after) }),
    };
    const within = inPeriod(period);
    for await (const { url, items } of this.#pages(asked, filter)) {
      const entries = this.#entriesOf(url, items, streamId);
      const early = entries.find(({ sequence }) => sequence <= after);
      if (early !== undefined)
        throw new EvidenceError(
          'service',
          `${url} lists entry ${early.sequence}, and those after ${after} were asked for`,
        );
      yield entries.filter(within).map(({ streamId: _id, ...entry }) => entry);
    }
  }

  /**
   * The newest entry of a stream as it is listed, and the id of the key that seals it; null if nothing shows that: a
   * service without seals, without a stated head, or that does not list the entries after a number.
   */
  async newestSeal({
    streamId,
    headSequence,
  }: Pick<ListedStreamAnswer, 'streamId' | 'headSequence'>): Promise<{ keyId: string; entry: string } | null> {
    const { entries: list } = this.#description;
    if (list === null || list.after_parameter === null || headSequence === null || headSequence < 1) return null;
    const filter = { ...selectionOf(list, streamId, ALL_TIME), [list.after_parameter]: String(headSequence - 1) };
    for await (const { url, items } of this.#pages(list, filter)) {
      const [newest] = items;
      const keyId = newest === undefined ? null : this.#read(url, () => this.#answers.sealKeyId(newest));
      return keyId === null ? null : { keyId, entry: JSON.stringify(newest) };
    }
    return null;
  }

  /** Has the service check the stream itself; null when the contract does not know how to ask. */
  async verifyStream(
    streamId: string,
  ): Promise<{ verification: VerifyAnswer; text: string; exchange: Exchange } | null> {
    const { verify } = this.#description;
    if (verify === null) return null;
    const url = this.#base + inPath(verify.path, { stream_id: streamId });
    const body = fillIn(verify.body, { stream_id: streamId });
    const { value, text, exchange } = await this.#json({ method: 'POST', url, body, repeatable: true });
    return { verification: this.#read(url, () => this.#answers.verification(value as Json)), text, exchange };
  }

  /**
   * Has a package made. A request that failed is sent again: at worst the service makes a package that nobody
   * downloads.
   * @param idempotencyKey makes a repeated request answer with the package of the first, where the service knows such keys.
   */
  async generate(
    streamId: string,
    period: Period,
    idempotencyKey: string,
  ): Promise<{ generated: GenerateAnswer; exchange: Exchange }> {
    const { generate } = this.#description;
    const url = this.#base + generate.path;
    const header = generate.idempotency_header;
    const { value, exchange } = await this.#json({
      method: 'POST',
      url,
      body: fillIn(generate.body, { stream_id: streamId, ...period }),
      ...(header === null ? {} : { headers: { [header]: idempotencyKey } }),
      repeatable: true,
    });
    return { generated: this.#read(url, () => this.#answers.generated(value as Json)), exchange };
  }

  /** Waits until a package that was not ready when it was generated is. @returns what is said of it then. */
  async awaitPackage(packageId: string): Promise<MadeAnswer> {
    const { ready } = this.#description.generate;
    if (ready.when !== 'status-says') return { entryCount: null };
    const url = this.#base + inPath(ready.path, { package_id: packageId });
    return untilReady<MadeAnswer>(`package ${packageId}`, this.#signal, async () => {
      const { value } = await this.#json({ method: 'GET', url, repeatable: true });
      return this.#read(url, () => this.#answers.made(value as Json)) ?? { notYet: { retryAfterMs: null } };
    });
  }

  /** One form of a package into a file, once the service has it ready. */
  async download(packageId: string, form: Form, file: string, observer: Observer): Promise<Downloaded> {
    const { downloads, generate } = this.#description;
    const path = downloads[form];
    if (path === null) throw new EvidenceError('service', `the contract knows no ${form} form`);
    const url = this.#base + inPath(path, { package_id: packageId });
    const notYet = new Set(generate.ready.when === 'download-answers' ? generate.ready.not_yet : []);
    const accepts = form === 'summary' ? 'any' : form;
    return untilReady(`${form} form of package ${packageId}`, this.#signal, () =>
      this.#transport.download({ method: 'GET', url, repeatable: true, notYet, accepts }, file, observer),
    );
  }

  #entriesOf(url: string, items: readonly Json[], streamId: string): EntryAnswer[] {
    const entries = items.map((item) => this.#read(url, () => this.#answers.entry(item)));
    const foreign = entries.find((entry) => entry.streamId !== null && entry.streamId !== streamId);
    if (foreign !== undefined) {
      const id = cutText(this.scrub(foreign.streamId ?? ''), SHOWN_OF_ID);
      throw new EvidenceError('service', `${url} lists entries of the stream "${id}" as well`);
    }
    // A digest is recorded as it is, and hex digits may spell the key.
    this.#transport.refuseKey(url, entries.map(({ digest }) => digest).join(' '));
    return entries;
  }

  async *#pages(list: Parameters<typeof readPages>[2], filter: Record<string, string>, known?: KnownItems) {
    try {
      yield* readPages(this.#transport, this.#base, list, filter, { known });
    } catch (error) {
      if (isEvidenceError(error, 'contract')) throw this.#otherContract(error.message);
      // A list may lead to an address that quotes the key.
      if (isEvidenceError(error)) error.message = this.#transport.scrub(error.message);
      throw error;
    }
  }

  async #json(call: Call): Promise<JsonAnswer> {
    try {
      return await this.#transport.json(call);
    } catch (error) {
      throw isEvidenceError(error, 'contract') ? this.#otherContract(error.message) : error;
    }
  }

  #read<T>(url: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw isEvidenceError(error, 'contract') ? this.#otherContract(`the answer of ${url}: ${error.message}`) : error;
    }
  }

  #otherContract(what: string): EvidenceError {
    return new EvidenceError('contract', this.#transport.scrub(what), this.#pinned ? SERVICE_CHANGED : OTHER_SERVICE);
  }
}
