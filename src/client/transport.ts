import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { StreamingSha256 } from '../encoding/digest.ts';
import { EvidenceError, messageOf } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import { type Refusal, toServiceError, toUnexpectedAnswer } from './problem.ts';

export interface TransportOptions {
  apiKey: string;
  userAgent: string;
  /** Milliseconds to connect, to the answer's headers, and between two pieces of its body. */
  timeouts: { connect: number; headers: number; idle: number };
  /** How often a request is tried in all. */
  attempts: number;
  /** Bytes of a JSON answer. */
  maxJsonBytes: number;
  /** Ends every request when it is aborted. */
  signal: AbortSignal;
}

export const DEFAULT_TRANSPORT = {
  timeouts: { connect: 10_000, headers: 60_000, idle: 60_000 },
  attempts: 4,
  maxJsonBytes: 64 * 2 ** 20,
} as const;

export interface Call {
  method: 'GET' | 'POST';
  url: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether a request that may have arrived can be sent again. */
  repeatable: boolean;
}

export interface Sink {
  /** A new attempt begins: what came before does not count. */
  start(contentType: string): Promise<void>;
  write(chunk: Uint8Array): Promise<void>;
}

const RETRIED_STATUS: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const MAX_PROBLEM_BYTES = 64 * 1024;

/** The longest that a timer of Node can wait, 24 days; it takes more than that for nothing at all. */
const MAX_WAIT_MS = 2 ** 31 - 1;

/** HTTP to one service: the bearer key, time limits, size limits, retries, and a record of every exchange. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #agent: Agent;

  constructor(options: TransportOptions) {
    this.#options = options;
    const { connect, headers, idle } = options.timeouts;
    this.#agent = new Agent({ connect: { timeout: connect }, headersTimeout: headers, bodyTimeout: idle });
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** The answer's JSON. */
  async json(call: Call): Promise<{ value: unknown; exchange: Exchange }> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    let contentType = '';
    const exchange = await this.receive(call, {
      start: async (type) => {
        contentType = type;
        chunks.length = 0;
        bytes = 0;
      },
      write: async (chunk) => {
        bytes += chunk.length;
        if (bytes > this.#options.maxJsonBytes)
          throw new EvidenceError('service', `${call.method} ${call.url} answers more than ${bytes} bytes of JSON`);
        chunks.push(chunk);
      },
    });
    const body = Buffer.concat(chunks);
    try {
      return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)), exchange };
    } catch {
      const answer = { method: call.method, url: call.url, status: exchange.status, contentType, body };
      throw this.#withoutKey(answer, (clean) => toUnexpectedAnswer(clean, 'this is not JSON'));
    }
  }

  /** The answer's body into a sink, from its beginning at every attempt. */
  async receive(call: Call, sink: Sink): Promise<Exchange> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(call, sink, attempt);
      if ('exchange' in outcome) return outcome.exchange;
      if (attempt >= this.#options.attempts || !outcome.retry) throw outcome.error;
      await sleep(outcome.waitMs ?? backoff(attempt), undefined, { signal: this.#options.signal });
    }
  }

  async #attempt(call: Call, sink: Sink, attempt: number): Promise<Attempt> {
    const requestedAt = new Date().toISOString();
    let answer: Dispatcher.ResponseData;
    try {
      answer = await this.#send(call);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      return { error: toConnectionError(call, error), retry: call.repeatable || neverArrived(error) };
    }
    const contentType = String(answer.headers['content-type'] ?? '');
    if (answer.statusCode < 200 || answer.statusCode > 299) return this.#refused(call, answer, contentType);
    const digest = new StreamingSha256();
    await sink.start(contentType);
    let writing = false;
    try {
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        digest.update(chunk);
        writing = true;
        await sink.write(chunk);
        writing = false;
      }
    } catch (error) {
      this.#options.signal.throwIfAborted();
      // A full disk is not the service's fault, and no better the next time.
      if (writing) throw error;
      return { error: toConnectionError(call, error), retry: call.repeatable };
    }
    const { sha256, bytes } = digest.finish();
    const url = new URL(call.url);
    return {
      exchange: {
        method: call.method,
        path: url.pathname + url.search,
        requested_at: requestedAt,
        status: answer.statusCode,
        date: header(answer, 'date'),
        request_id: header(answer, 'x-request-id'),
        attempts: attempt,
        bytes,
        sha256,
      },
    };
  }

  #send(call: Call): Promise<Dispatcher.ResponseData> {
    return request(call.url, {
      dispatcher: this.#agent,
      method: call.method,
      signal: this.#options.signal,
      headers: {
        authorization: `Bearer ${this.#options.apiKey}`,
        'user-agent': this.#options.userAgent,
        accept: '*/*',
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
    });
  }

  async #refused(call: Call, answer: Dispatcher.ResponseData, contentType: string): Promise<Attempt> {
    const body = await readUpTo(answer.body, MAX_PROBLEM_BYTES);
    const { method, url } = call;
    const refusal = { method, url, status: answer.statusCode, contentType, body };
    const error = this.#withoutKey(refusal, toServiceError);
    const waitMs = retryAfterMs(header(answer, 'retry-after'));
    const retry = RETRIED_STATUS.has(answer.statusCode) && (call.repeatable || answer.statusCode === 429);
    return { error, retry: retry && (waitMs ?? 0) <= MAX_WAIT_MS, ...(waitMs === null ? {} : { waitMs }) };
  }

  /** What a service says may quote the key that it was sent: as it is, which could be cut, or escaped as JSON allows. */
  #withoutKey(refusal: Refusal, describe: (refusal: Refusal) => EvidenceError): EvidenceError {
    const { apiKey } = this.#options;
    const body = Buffer.from(refusal.body).toString('latin1').replaceAll(apiKey, '***');
    const error = describe({ ...refusal, body: Buffer.from(body, 'latin1') });
    error.message = error.message.replaceAll(apiKey, '***');
    return error;
  }
}

type Attempt = { exchange: Exchange } | { error: EvidenceError; retry: boolean; waitMs?: number };

/** Full jitter: anything from nothing to 250 ms, 500 ms, 1 s, … at most 10 s. */
function backoff(attempt: number): number {
  return Math.random() * Math.min(10_000, 250 * 2 ** (attempt - 1));
}

/** `Retry-After` of RFC 9110 section 10.2.3: seconds or a date. */
function retryAfterMs(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

async function readUpTo(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= limit) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).subarray(0, limit);
}

function header(answer: Dispatcher.ResponseData, name: string): string | null {
  const value = answer.headers[name];
  return value === undefined ? null : String(value);
}

const NEVER_ARRIVED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** Whether the connection was never made, so that the service cannot have seen the request. */
function neverArrived(error: unknown): boolean {
  return codesOf(error).some((code) => NEVER_ARRIVED.has(code));
}

function toConnectionError(call: Call, error: unknown): EvidenceError {
  const codes = codesOf(error);
  const reason = codes.length > 0 ? codes.join(', ') : messageOf(error);
  return new EvidenceError('unreachable', `${call.method} ${call.url} failed: ${reason}`, {
    cause: error,
    nextStep: 'Check that the service runs and can be reached from here, then run the same command again to resume.',
  });
}

function codesOf(error: unknown): string[] {
  const errors = error instanceof AggregateError ? error.errors : [error];
  const codes = errors.map((one) => (one as NodeJS.ErrnoException).code).filter((code) => typeof code === 'string');
  return [...new Set(codes)];
}
