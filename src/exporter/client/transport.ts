import { sha256 } from '../../core/digest.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { SecretWatch, scrubber } from '../../core/secret.ts';
import { SpareMemory } from '../../core/spare-memory.ts';
import type { Answer } from './answer.ts';
import type { Accepts, Call, NotYet, PollingCall } from './call.ts';
import { toConnectionError } from './connection-error.ts';
import { Download, type Downloaded, type Observer } from './download.ts';
import { type JsonAnswer, type PageAnswer, type PlainAnswer, toExchange } from './exchange.ts';
import { type ConnectionOptions, callLimits, type TransportOptions } from './options.ts';
import { type ReadBody, type ReadPage, readJsonBody } from './page-reader.ts';
import { describeRefusal, toUnexpectedAnswer } from './problem.ts';
import { type AttemptFailure, Attempts } from './retry.ts';
import { Sender } from './send.ts';

/**
 * Maximum size of an answer that is not a page of a list. Such answers have few members and are archived with their
 * text.
 */
const MAX_DOCUMENT_BYTES = 16 * 2 ** 20;

const TWO_WAYS = 'answered with ambiguous JSON: a member name occurs twice in one object';

/** Number of page buffers to keep, as many as are likely to be in use at once. */
const MAX_SPARE = 8;
/** Maximum size of a page buffer. Pages of usual sizes are shorter. */
const MAX_SPARE_BYTES = 8 * 2 ** 20;

/** HTTP client for one service: bearer key, time limits, size limits, pace, retries, and a record of every exchange. */
export class Transport {
  readonly #options: ConnectionOptions;
  readonly #sender: Sender;
  readonly #spare = new SpareMemory(MAX_SPARE);

  /** @throws EvidenceError `config` for invalid certificates or proxies. */
  constructor(options: TransportOptions) {
    this.#options = { ...options, scrub: scrubber(options.apiKey) };
    this.#sender = new Sender(this.#options);
  }

  async close(): Promise<void> {
    await this.#sender.close();
  }

  /** Returns a watch that finds the key in downloads. */
  watchKey(): SecretWatch {
    return new SecretWatch(this.#options.apiKey);
  }

  /** Maximum number of pages of one list. */
  get maxPages(): number {
    return this.#options.maxPages;
  }

  /** Removes the key from a text. */
  scrub(text: string): string {
    return this.#options.scrub(text);
  }

  /**
   * Throws if a text that is to be recorded contains the key.
   * @throws EvidenceError `service`.
   */
  refuseKey(url: string, text: string): void {
    if (this.scrub(text) === text) return;
    throw new EvidenceError('service', `the answer of ${url} contains the API key and was discarded`, {
      nextStep: 'Replace the key, and tell the operator of the service that it exposes the key.',
    });
  }

  /**
   * Requests a JSON document of at most `MAX_DOCUMENT_BYTES`.
   * @throws EvidenceError `contract` if two readers could read the text differently.
   */
  json(call: PollingCall): Promise<JsonAnswer | NotYet>;
  json(call: Call): Promise<JsonAnswer>;
  json(call: Call): Promise<JsonAnswer | NotYet> {
    return this.#retried((attempts) => this.#askJson(call, attempts));
  }

  /**
   * Requests a page in JSON.
   * @param read reads the body, which is valid until it returns; see `readJsonBody`.
   */
  page(call: Call, read: ReadPage): Promise<PageAnswer> {
    return this.#retried((attempts) => this.#askPage(call, read, attempts));
  }

  /**
   * Downloads an answer's body to a file, which is created at the first success and keeps the received part if the call
   * fails.
   * @param accepts expected form.
   * @param observer receives the same bytes as they arrive, always from the beginning of the file.
   */
  download(call: PollingCall & { accepts?: Accepts }, file: string, observer: Observer): Promise<Downloaded | NotYet>;
  download(call: Call & { accepts?: Accepts }, file: string, observer: Observer): Promise<Downloaded>;
  download(call: Call & { accepts?: Accepts }, file: string, observer: Observer): Promise<Downloaded | NotYet> {
    const accepts = call.accepts ?? 'any';
    return this.#withoutKey(() => new Download([this.#sender, this.#options], [call, accepts], file, observer).run());
  }

  /** Requests an answer of any status. Refusals that may be temporary are retried first. */
  plain(call: Call): Promise<PlainAnswer> {
    return this.#withoutKey(async () => {
      const attempts = new Attempts(callLimits(this.#options, 'request'));
      for (;;) {
        attempts.begin();
        const outcome = await this.#askPlain(call, attempts);
        if (!('failure' in outcome)) return outcome;
        try {
          await attempts.next(outcome.failure, this.#options.signal);
        } catch (error) {
          if (outcome.refused === null || error !== outcome.failure.error) throw error;
          return outcome.refused;
        }
      }
    });
  }

  async #askPlain(
    call: Call,
    attempts: Attempts,
  ): Promise<PlainAnswer | { failure: AttemptFailure; refused: PlainAnswer | null }> {
    const asked = await this.#sender.ask(call, 'any', { 'accept-encoding': 'gzip, br' }, attempts);
    if ('notYet' in asked) throw new TypeError('a plain call takes every answer');
    if ('answer' in asked) {
      try {
        const text = this.scrub(new TextDecoder().decode(await this.#read(asked.answer, this.#options.maxBytes.json)));
        return { status: asked.answer.status, text, link: asked.answer.header('link'), error: null };
      } catch (error) {
        this.#options.signal.throwIfAborted();
        if (isEvidenceError(error)) throw error;
        return { failure: { error: toConnectionError(call, error), retry: call.repeatable }, refused: null };
      }
    }
    const { status, said, error } = asked;
    if (status === undefined || said === undefined) return { failure: asked, refused: null };
    return { failure: asked, refused: { status, text: this.scrub(new TextDecoder().decode(said)), link: null, error } };
  }

  async #askJson(call: Call, attempts: Attempts): Promise<JsonAnswer | NotYet | AttemptFailure> {
    const asked = await this.#sender.ask(call, 'json', { 'accept-encoding': 'gzip, br' }, attempts);
    if (!('answer' in asked)) return asked;
    const { answer } = asked;
    const received = await this.#receive(answer, Math.min(this.#options.maxBytes.json, MAX_DOCUMENT_BYTES));
    if ('error' in received) return received;
    const { body } = received;
    const { scrub } = this.#options;
    const text = Buffer.from(body).toString('utf8');
    this.refuseKey(call.url, text);
    return {
      text,
      ...this.#toPage(answer, body, readJsonBody(body)),
      get exchange() {
        return toExchange(answer, attempts.count, { sha256: sha256(body), bytes: body.length }, scrub);
      },
    };
  }

  async #askPage(call: Call, read: ReadPage, attempts: Attempts): Promise<PageAnswer | AttemptFailure> {
    const asked = await this.#sender.ask(call, 'json', { 'accept-encoding': 'gzip, br' }, attempts);
    if ('notYet' in asked) throw new TypeError('a page is there or not');
    if ('error' in asked) return asked;
    const { answer } = asked;
    const length = answer.isEncoded ? 0 : (answer.contentLength ?? 0);
    const memory = this.#spare.take(length <= MAX_SPARE_BYTES ? length : 0);
    try {
      const received = await this.#receive(answer, this.#options.maxBytes.json, memory);
      if ('error' in received) return received;
      const { body } = received;
      const path = this.scrub(answer.url.pathname + answer.url.search);
      const { scrub } = this.#options;
      const content = { bytes: body.length, sha256: sha256(body) };
      return {
        ...this.#toPage(answer, body, read(body)),
        received: { path, ...content },
        get exchange() {
          return toExchange(answer, attempts.count, content, scrub);
        },
      };
    } finally {
      this.#spare.giveBack(memory);
    }
  }

  #toPage(answer: Answer, body: Uint8Array, read: ReadBody): Omit<PageAnswer, 'received' | 'exchange'> {
    if ('why' in read) throw toUnexpectedAnswer(describeRefusal(answer, body, this.#options.scrub), read.why);
    if (read.repeatsName) throw new EvidenceError('contract', `${answer.call.url} ${TWO_WAYS}`);
    return { value: read.value, date: answer.header('date'), link: answer.header('link') };
  }

  async #receive(answer: Answer, limit: number, memory?: Uint8Array): Promise<{ body: Uint8Array } | AttemptFailure> {
    try {
      return { body: await this.#read(answer, limit, memory) };
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (isEvidenceError(error)) throw error;
      return { error: toConnectionError(answer.call, error), retry: answer.call.repeatable };
    }
  }

  /** Reads the body into `memory` if it fits. */
  async #read(answer: Answer, limit: number, memory: Uint8Array = new Uint8Array()): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of answer.content(limit))
      if (chunks.length === 0 && length + chunk.length <= memory.length) {
        memory.set(chunk, length);
        length += chunk.length;
      } else chunks.push(chunk);
    const begun = memory.subarray(0, length);
    return chunks.length === 0 ? begun : Buffer.concat([begun, ...chunks]);
  }

  #retried<T extends object>(ask: (attempts: Attempts) => Promise<T | AttemptFailure>): Promise<T> {
    return this.#withoutKey(async () => {
      const attempts = new Attempts(callLimits(this.#options, 'request'));
      for (;;) {
        attempts.begin();
        const outcome = await ask(attempts);
        if (!('error' in outcome)) return outcome;
        await attempts.next(outcome, this.#options.signal);
      }
    });
  }

  /** Removes the key from error messages, which may quote the service. */
  async #withoutKey<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isEvidenceError(error)) error.message = this.scrub(error.message);
      throw error;
    }
  }
}
