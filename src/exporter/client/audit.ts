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
  /** Address, with or without trailing slashes. */
  url: string;
  description: Description;
  /** True if the description was pinned for this service, so that any difference means that the service has changed. */
  pinned: boolean;
  /** Ends all waits. */
  signal: AbortSignal;
}

/** Maximum number of streams. A longer list is considered endless. */
const MAX_STREAMS = 100_000;

/** Maximum length of a foreign id in a message, in code points. */
export const SHOWN_OF_ID = 60;

/** Operations of the audit service that an export needs, as its contract describes them. */
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

  /** Returns the period of a package: the requested one, or all time if the service cannot select a period. */
  packagePeriod(period: Period): Period {
    return selectsPeriod(this.#description) ? period : ALL_TIME;
  }

  /** Contract that answers are read by. */
  get description(): Description {
    return this.#description;
  }

  /** Next step for a stream that does not fit the contract. */
  get driftAdvice(): { nextStep: string } {
    return this.#pinned ? SERVICE_CHANGED : ODD_STREAM;
  }

  /** Removes this client's API key from a text. */
  readonly scrub: Scrub = (text) => this.#transport.scrub(text);

  /** Returns a watch that finds this client's API key in downloads. */
  watchKey(): SecretWatch {
    return this.#transport.watchKey();
  }

  /** Forms that the service offers. */
  get forms(): readonly Form[] {
    const { downloads } = this.#description;
    return (['json', 'pdf', 'summary'] as const).filter((form) => downloads[form] !== null);
  }

  /** Returns the requests of an export for a reader who wants to repeat them. Paths are relative to the origin. */
  operations(period: Period, listsEntries: boolean): Operation[] {
    const base = new URL(this.#base).pathname.replace(/\/$/, '');
    const operations = operationsOf(this.#description, this.packagePeriod(period), listsEntries);
    return operations.map((operation) => ({ ...operation, path: base + operation.path }));
  }

  get listsEntries(): boolean {
    return this.#description.entries !== null;
  }

  /** Requests the smallest page of streams, to check that the service can be reached. */
  async firstPage(): Promise<Pick<Page, 'items' | 'date'>> {
    const { streams } = this.#description;
    const smallest = streams.limit === null ? streams : { ...streams, limit: { ...streams.limit, size: 1 } };
    for await (const page of atAddress(this.#pages(smallest, {}))) return page;
    return { items: [], date: null };
  }

  /**
   * Yields the listed streams. A stream that does not fit the contract is drift of that stream. If no contract was
   * pinned and no stream fits the default one, the service speaks another contract.
   * @param onPage receives each page, and its Date header.
   * @throws EvidenceError `contract`, after the end of the list, if the service speaks another contract.
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
        throw new EvidenceError(
          'service',
          `${url} continues after ${listed} streams: the list never ends`,
          ASK_OPERATOR,
        );
    }
    if (misfit !== null && fitting === 0 && !this.#pinned) throw this.#otherContract(misfit);
  }

  /**
   * Yields the stream's entries of a period in pages, ordered by sequence.
   * @throws EvidenceError `service` if the service lists entries of other streams, or more than `most`.
   */
  async *listEntries(
    streamId: string,
    period: Period,
    { known, most = () => Number.POSITIVE_INFINITY }: EntriesOptions = {},
  ): AsyncGenerator<EntriesPage> {
    const { entries: list } = this.#description;
    if (list === null) throw new EvidenceError('service', 'the contract has no list of entries');
    const within = inPeriod(period);
    const unordered: EntriesPage = { matched: 0, entries: [], received: [] };
    const expected = list.order === 'ascending' ? known : undefined;
    let read = 0;
    const filter = selectionOf(list, streamId, period);
    for await (const { url, known: matched, items, received } of this.#pages(list, filter, expected)) {
      read += matched + items.length;
      if (read > most())
        throw new EvidenceError('service', `${url} lists more than ${plural(most(), 'entry')}: the list never ends`);
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
   * Checks that the API key has the rights that an export needs.
   * @param listed id of a listed stream; null if none is listed.
   * @param needsListing an export without the list of entries would be incomplete.
   * @returns the refusal of the service's own check of streams; null if the key may use it.
   * @throws EvidenceError `refused` if the key may not export.
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

  /** True if the service can list the entries after a sequence number. */
  get listsAfter(): boolean {
    return this.#description.entries?.after_parameter != null;
  }

  /**
   * Yields the entries of a stream after sequence number `after`, in pages, ordered by sequence.
   * @param limit number of entries in a page, if the service accepts a limit; its usual page by default.
   * @throws EvidenceError as `listEntries` does, and `service` for an entry that was not requested.
   */
  async *listAfter(streamId: string, after: number, period: Period, limit?: number): AsyncGenerator<EntryListItem[]> {
    const { entries: list } = this.#description;
    if (list === null || list.after_parameter === null) throw new TypeError('the contract has no such list');
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
          `${url} lists entry ${early.sequence}, but entries after ${after} were requested`,
        );
      yield entries.filter(within).map(({ streamId: _id, ...entry }) => entry);
    }
  }

  /**
   * Returns the newest listed entry of a stream and the id of the key that seals it. Null for a service without seals,
   * without a stated head, or without a list of entries after a number.
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

  /** Asks the service to check the stream itself; null if the contract describes no such operation. */
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
   * Requests a package. A failed request is repeated; at worst, the service generates a package that is never
   * downloaded.
   * @param idempotencyKey lets a repeated request return the first package, if the service supports such keys.
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

  /**
   * Waits for a package that was not ready when it was generated. @returns the service's statement about the ready
   * package.
   */
  async awaitPackage(packageId: string): Promise<MadeAnswer> {
    const { ready } = this.#description.generate;
    if (ready.when !== 'status-says') return { entryCount: null };
    const url = this.#base + inPath(ready.path, { package_id: packageId });
    return untilReady<MadeAnswer>(`package ${packageId}`, this.#signal, async () => {
      const { value } = await this.#json({ method: 'GET', url, repeatable: true });
      return this.#read(url, () => this.#answers.made(value as Json)) ?? { notYet: { retryAfterMs: null } };
    });
  }

  /** Downloads one form of a package to a file as soon as the service has it ready. */
  async download(packageId: string, form: Form, file: string, observer: Observer): Promise<Downloaded> {
    const { downloads, generate } = this.#description;
    const path = downloads[form];
    if (path === null) throw new EvidenceError('service', `the contract has no ${form} form`);
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
      throw new EvidenceError('service', `${url} also lists entries of the stream "${id}"`);
    }
    // Digests are recorded unchanged, and their hex digits could spell the key.
    this.#transport.refuseKey(url, entries.map(({ digest }) => digest).join(' '));
    return entries;
  }

  async *#pages(list: Parameters<typeof readPages>[2], filter: Record<string, string>, known?: KnownItems) {
    try {
      yield* readPages(this.#transport, this.#base, list, filter, { known });
    } catch (error) {
      if (isEvidenceError(error, 'contract')) throw this.#otherContract(error.message);
      // A list may lead to an address that contains the key.
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
