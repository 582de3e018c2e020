import type { Dispatcher } from 'undici';
import { EvidenceError, isEvidenceError, type NextStep } from '../../core/errors.ts';
import { isRetriedStatus } from '../../core/retry.ts';
import { isUntrusted, reasonOf } from './connection-error.ts';
import { dispatch } from './dispatch.ts';
import { openDispatcher } from './dispatcher.ts';
import { type AttemptFailure, Attempts } from './retry.ts';

interface AuthorityOptions {
  /** Address, http or https. A user and password in it are sent to the authority and never shown. */
  url: URL;
  userAgent: string;
  /** Milliseconds for one attempt, from connecting to the last byte. */
  timeoutMs?: number;
  attempts?: number;
  signal: AbortSignal;
}

const TIMEOUT_MS = 20_000;
const ATTEMPTS = 3;
const MAX_ANSWER_BYTES = 64 * 1024;
const NEXT_STEP: NextStep = {
  before: 'Check sign.tsa_url and the network, then',
  same: '; only the time-stamp is missing',
};

/** Client for RFC 3161 over HTTP (section 3.4). Returns answers unchecked; callers must verify them before use. */
export class AuthorityClient {
  /** Address for people and records, without user, password and query. */
  readonly shown: string;
  readonly #options: AuthorityOptions;
  readonly #dispatcher: Dispatcher;
  readonly #timeoutMs: number;

  constructor(options: AuthorityOptions) {
    const { url, timeoutMs = TIMEOUT_MS } = options;
    this.shown = `${url.origin}${url.pathname}`;
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#dispatcher = openDispatcher(timeoutMs, {});
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /**
   * Sends a query.
   * @param query a TimeStampReq in DER.
   * @returns the body of a successful answer, at most 64 KiB.
   * @throws EvidenceError `unreachable` without an answer, `refused` for 401 and 403, `service` for other statuses.
   */
  async ask(query: Uint8Array): Promise<Uint8Array> {
    const limits = { callMs: Number.POSITIVE_INFINITY, bytesPerSecond: 0, waits: { longest: 0, inAll: 0 } };
    const attempts = new Attempts({ attempts: this.#options.attempts ?? ATTEMPTS, ...limits });
    for (;;) {
      attempts.begin();
      const outcome = await this.#try(query);
      if (!('error' in outcome)) return outcome;
      await attempts.next(outcome, this.#options.signal);
    }
  }

  async #try(query: Uint8Array): Promise<Uint8Array | AttemptFailure> {
    const { signal } = this.#options;
    try {
      return await this.#exchange(query);
    } catch (error) {
      signal.throwIfAborted();
      if (isEvidenceError(error)) return { error, retry: false };
      const message = `the time-stamping authority ${this.shown} does not answer: ${reasonOf(error)}`;
      const failure = new EvidenceError('unreachable', message, { nextStep: NEXT_STEP, cause: error });
      return { error: failure, retry: !isUntrusted(error) };
    }
  }

  async #exchange(query: Uint8Array): Promise<Uint8Array | AttemptFailure> {
    const { url, userAgent, signal } = this.#options;
    const headers = {
      'content-type': 'application/timestamp-query',
      accept: 'application/timestamp-reply',
      'user-agent': userAgent,
      ...(url.username === '' ? {} : { authorization: `Basic ${credentialsIn(url)}` }),
    };
    const target = { origin: url.origin, path: url.pathname + url.search, method: 'POST' as const };
    const [headMs, wholeMs] = [this.#timeoutMs, this.#timeoutMs];
    const limits = { headMs, wholeMs, least: { bytesPerSecond: 0, windowMs: wholeMs } };
    const { status, body } = await dispatch(this.#dispatcher, { ...target, headers, body: query }, limits, signal);
    if (status !== 200) {
      body.destroy();
      return { error: this.#refusal(status), retry: isRetriedStatus(status) };
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES)
        throw new EvidenceError('service', `the time-stamping authority ${this.shown} answered with more than 64 KiB`);
      chunks.push(chunk);
    }
    if (body.fault !== null) throw body.fault;
    return Buffer.concat(chunks);
  }

  #refusal(status: number): EvidenceError {
    const code = status === 401 || status === 403 ? 'refused' : 'service';
    return new EvidenceError(code, `the time-stamping authority ${this.shown} answered ${status}`, {
      nextStep: { before: 'Check that sign.tsa_url names an RFC 3161 authority, then' },
    });
  }
}

/** Encodes the credentials of a URL for Basic authentication (RFC 7617). */
function credentialsIn({ username, password }: URL): string {
  return Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
}
