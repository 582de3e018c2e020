import { request } from 'undici';
import { EvidenceError } from '../../core/errors.ts';

/** Client of a platform's HTTP API. */
export class PlatformCaller {
  readonly origin: string;
  readonly #apiKey: string | null;
  readonly #signal: AbortSignal;

  /** @param apiKey null for a stranger. */
  constructor(origin: string, apiKey: string | null, signal: AbortSignal) {
    this.origin = origin;
    this.#apiKey = apiKey;
    this.#signal = signal;
  }

  /** Returns the same client with another key. */
  as(apiKey: string | null): PlatformCaller {
    return new PlatformCaller(this.origin, apiKey, this.#signal);
  }

  get<T>(path: string): Promise<T> {
    return this.#ask<T>('GET', path);
  }

  post<T>(path: string, body?: object): Promise<T> {
    return this.#ask<T>('POST', path, body);
  }

  /** Returns the status of an answer, whatever it is. */
  async statusOf(path: string, body: object): Promise<number> {
    return (await this.#send('POST', path, body)).status;
  }

  /** @throws EvidenceError `service` if the answer is not a success. */
  async #ask<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    const { status, text } = await this.#send(method, path, body);
    if (status < 300) return JSON.parse(text) as T;
    throw new EvidenceError('service', `${method} ${path} was answered with ${status}: ${text.slice(0, 300)}`);
  }

  async #send(method: 'GET' | 'POST', path: string, body?: object): Promise<{ status: number; text: string }> {
    const { statusCode: status, body: answer } = await request(`${this.origin}${path}`, {
      method,
      headers: {
        ...(this.#apiKey === null ? {} : { authorization: `Bearer ${this.#apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: this.#signal,
    });
    return { status, text: await answer.text() };
  }
}
