import type { Dispatcher } from 'undici';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { isRetriedStatus, readRetryAfter } from '../../core/retry.ts';
import { Answer } from './answer.ts';
import type { Accepts, Call, NotYet, PollingCall } from './call.ts';
import { isUntrusted, neverArrived, reasonOf, toConnectionError } from './connection-error.ts';
import { type DispatchedAnswer, dispatch } from './dispatch.ts';
import { openDispatcher } from './dispatcher.ts';
import { requestIdOf } from './exchange.ts';
import { type ConnectionOptions, dispatchLimits } from './options.ts';
import { describeRefusal, toServiceError } from './problem.ts';
import { RateLimiter } from './rate.ts';
import type { AttemptFailure, Attempts } from './retry.ts';

const MAX_REDIRECTS = 5;
const MAX_PROBLEM_BYTES = 64 * 1024;

const MEDIA: Record<Accepts, string> = {
  json: 'application/json, */*;q=0.5',
  pdf: 'application/pdf, */*;q=0.5',
  any: '*/*',
};

/** Refusal of a service. */
interface Refused {
  status: number;
  /** Beginning of the answer's body. */
  said: Uint8Array;
}

/** Result of a request. A failure with an answer includes its status and body. */
type Sent = { answer: Answer } | NotYet | (AttemptFailure & Partial<Refused>);

/**
 * Sends requests, each once: with the API key unless the call omits it, at a pace that the service accepts, and
 * following redirects.
 */
export class Sender {
  readonly #options: ConnectionOptions;
  readonly #dispatcher: Dispatcher;
  readonly #limiter: RateLimiter;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#dispatcher = openDispatcher(options.timeouts.connect, options.tls ?? {});
    this.#limiter = new RateLimiter(options);
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /**
   * Returns a successful answer, or the reason that there is none. @param attempts of the call; its clock starts with
   * the request.
   */
  async ask(
    call: Call | PollingCall,
    accepts: Accepts,
    headers: Record<string, string>,
    attempts: Attempts,
  ): Promise<Sent> {
    const notYet = 'notYet' in call ? call.notYet : new Set<number>();
    let answer: Answer;
    try {
      answer = await this.#follow(call, notYet, { accept: MEDIA[accepts], ...headers }, attempts);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (isEvidenceError(error)) throw error;
      this.#trace(call, `failed: ${reasonOf(error)}`);
      const retry = (call.repeatable || neverArrived(error)) && !isUntrusted(error);
      return { error: toConnectionError(call, error), retry };
    }
    if (notYet.has(answer.status)) {
      await answer.discard();
      return { notYet: { retryAfterMs: readRetryAfter(answer.header('retry-after')) } };
    }
    return answer.status >= 200 && answer.status <= 299 ? { answer } : this.#refused(call, answer);
  }

  #trace({ method, url }: Call, what: string, since?: string): void {
    const { trace, scrub } = this.#options;
    const took = since === undefined ? '' : ` after ${Date.now() - Date.parse(since)} ms`;
    trace?.(scrub(`${method} ${url} ${what}${took}`));
  }

  async #follow(
    call: Call,
    notYet: ReadonlySet<number>,
    headers: Record<string, string>,
    attempts: Attempts,
  ): Promise<Answer> {
    let url = new URL(call.url);
    if (url.origin !== this.#options.origin)
      throw new EvidenceError(
        'service',
        `${call.url} is not at ${this.#options.origin}, the only address that may receive the key`,
      );
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const grantedAt = await this.#limiter.admit();
      const answer = await this.#send(call, url, headers, attempts.sent());
      if (!notYet.has(answer.status)) this.#noteRefusal(answer, grantedAt);
      let target: URL | null = null;
      try {
        target = notYet.has(answer.status) ? null : redirectTarget(answer);
      } catch (error) {
        answer.abandon();
        throw error;
      }
      if (target === null) return answer;
      await answer.discard();
      url = target;
    }
    throw new EvidenceError('service', `${call.method} ${call.url} redirects more than ${MAX_REDIRECTS} times`);
  }

  async #send(call: Call, url: URL, headers: Record<string, string>, leftMs: number): Promise<Answer> {
    const { apiKey, userAgent, timeouts, signal, scrub, onRequest } = this.#options;
    const requestedAt = new Date().toISOString();
    const options = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: call.method,
      // Set for each request, because undici drops the dispatcher's timeouts for forwarding proxies.
      headersTimeout: timeouts.headers,
      bodyTimeout: timeouts.idle,
      headers: {
        ...headers,
        ...(call.withoutKey === true ? {} : { authorization: `Bearer ${apiKey}` }),
        'user-agent': userAgent,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
    };
    const sent = { method: call.method, url: scrub(url.href), startedAt: new Date(requestedAt) };
    let data: DispatchedAnswer;
    try {
      data = await dispatch(this.#dispatcher, options, dispatchLimits(this.#options, leftMs), signal);
    } catch (error) {
      onRequest?.({ ...sent, status: null, requestId: null, endedAt: new Date(), failure: reasonOf(error) });
      throw error;
    }
    const answer = new Answer(call, url, requestedAt, data);
    this.#trace(call, `answered ${answer.status}`, requestedAt);
    const requestId = requestIdOf(answer, scrub);
    onRequest?.({ ...sent, status: answer.status, requestId, endedAt: new Date(), failure: null });
    return answer;
  }

  /** Reports a refusal to the rate limiter, unless it asks for a longer wait than any call is given. */
  #noteRefusal(answer: Answer, grantedAt: number): void {
    const retryAfterMs = readRetryAfter(answer.header('retry-after'));
    if ((retryAfterMs ?? 0) <= this.#options.waits.longest)
      this.#limiter.answered(answer.status, grantedAt, retryAfterMs);
  }

  async #refused(call: Call, answer: Answer): Promise<AttemptFailure & Refused> {
    const { status } = answer;
    const said = await answer.beginning(MAX_PROBLEM_BYTES);
    const error = toServiceError(describeRefusal(answer, said, this.#options.scrub));
    const retry = isRetriedStatus(status) && (call.repeatable || status === 429);
    return { error, retry, waitMs: readRetryAfter(answer.header('retry-after')), status, said };
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Redirects that keep the method (RFC 9110 sections 15.4.8 and 15.4.9). */
const KEEPS_METHOD: ReadonlySet<number> = new Set([307, 308]);

/**
 * Returns the redirect target of an answer, on the same origin; null if the answer is no redirect.
 * @throws EvidenceError `service` for another origin, which must not receive the key, and for a POST that would become
 * a GET.
 */
function redirectTarget(answer: Answer): URL | null {
  const { call, url, status } = answer;
  const location = answer.header('location');
  if (!REDIRECTS.has(status) || location === null) return null;
  const what = `${call.method} ${url.href} answered ${status} and redirects`;
  if (!URL.canParse(location, url.href)) throw new EvidenceError('service', `${what} to an invalid address`);
  const target = new URL(location, url);
  target.hash = '';
  target.username = '';
  target.password = '';
  if (target.origin !== url.origin)
    throw new EvidenceError(
      'service',
      `${what} to another origin, ${originOf(target)}, which must not receive the key`,
      {
        nextStep: 'If the service has moved there, set source.audit_url to its new address.',
      },
    );
  if (call.method !== 'GET' && !KEEPS_METHOD.has(status))
    throw new EvidenceError('service', `${what}, which would turn the ${call.method} into a GET`, {
      nextStep: 'Check that source.audit_url is the address of the audit service itself.',
    });
  return target;
}

/** Returns the origin of http and https URLs, and the scheme of others. */
function originOf(url: URL): string {
  return url.origin === 'null' ? url.protocol : url.origin;
}
