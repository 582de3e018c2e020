import { lookup as resolveName } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, request } from 'undici';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { within } from '../database/within.ts';
import { isPublic } from './addresses.ts';

/** Request to an external service. */
export interface OutgoingRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array | string;
}

/** Answer of an external service. Redirects are not followed. */
export interface OutgoingAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

export interface DispatcherOptions {
  /** Internal hosts that the configuration allows, as `host` or `host:port`. */
  allowed?: Iterable<string>;
  /** Time limit of the whole exchange. */
  timeoutMs?: number;
  maxAnswerBytes?: number;
  /** Returns all addresses of a name. */
  resolve?: (name: string) => Promise<readonly string[]>;
}

const TIMEOUT_MS = 10_000;
/** Time limit for resolving a name that is not used yet. */
const LOOKUP_MS = 3000;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Single way out of the platform. A name is resolved once, each of its addresses is checked, and the connection uses a
 * checked address, which prevents DNS rebinding. Internal addresses are refused unless the configuration allows their
 * host.
 */
export class Dispatcher {
  readonly #allowed: ReadonlySet<string>;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #resolve: (name: string) => Promise<readonly string[]>;

  constructor({
    allowed = [],
    timeoutMs = TIMEOUT_MS,
    maxAnswerBytes = MAX_ANSWER_BYTES,
    resolve = addressesOf,
  }: DispatcherOptions = {}) {
    this.#allowed = new Set([...allowed].map((host) => host.toLowerCase()));
    this.#timeoutMs = timeoutMs;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#resolve = resolve;
  }

  /**
   * @throws EvidenceError `refused` if sending to the address is not allowed, `unreachable` if there is no answer in
   * time, `service` if the answer is too large.
   */
  async send({ url, method, headers, body }: OutgoingRequest): Promise<OutgoingAnswer> {
    const address = await this.#addressFor(url);
    // One signal covers the whole exchange, so that a slow body cannot delay the caller.
    const signal = AbortSignal.timeout(this.#timeoutMs);
    const agent = agentTo(address);
    try {
      const answer = await request(url, { method, headers, body: body ?? null, signal, dispatcher: agent });
      return { status: answer.statusCode, headers: answer.headers, body: await this.#read(url, answer.body) };
    } catch (cause) {
      if (cause instanceof EvidenceError) throw cause;
      throw new EvidenceError('unreachable', `${url.host} does not answer: ${messageOf(cause)}`, { cause });
    } finally {
      await agent.destroy();
    }
  }

  /**
   * Returns the reason why nothing may be sent to an address now; null if there is none, or if the name has no address
   * yet.
   */
  async refusal(url: URL): Promise<string | null> {
    try {
      await within(LOOKUP_MS, () => this.#addressFor(url));
      return null;
    } catch (error) {
      return error instanceof EvidenceError && error.code === 'refused' ? error.message : null;
    }
  }

  /** Returns an address of a host to which requests may be sent. */
  async #addressFor(url: URL): Promise<string> {
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new EvidenceError('refused', `${url.protocol} is not http or https; nothing was sent`);
    const name = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(name) !== 0 ? [name] : await this.#resolved(name);
    const [first] = addresses;
    if (first === undefined) throw new EvidenceError('unreachable', `${name} has no address`);
    const isNamed = this.#allowed.has(url.hostname.toLowerCase()) || this.#allowed.has(url.host.toLowerCase());
    if (!isNamed && !addresses.every(isPublic))
      throw new EvidenceError('refused', `${name} is an internal address; nothing was sent`, {
        nextStep: `If this is intended, add ${url.host} to outgoing_hosts in the configuration of the platform.`,
      });
    return first;
  }

  async #resolved(name: string): Promise<readonly string[]> {
    try {
      return await this.#resolve(name);
    } catch (cause) {
      throw new EvidenceError('unreachable', `${name} has no address: ${messageOf(cause)}`, { cause });
    }
  }

  async #read(url: URL, body: AsyncIterable<Buffer>): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > this.#maxAnswerBytes)
        throw new EvidenceError('service', `${url.host} answered with more than ${this.#maxAnswerBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}

async function addressesOf(name: string): Promise<readonly string[]> {
  return (await resolveName(name, { all: true })).map(({ address }) => address);
}

/**
 * Returns an agent that connects to this address, whatever the request's host resolves to. The certificate must be that
 * of the host.
 */
function agentTo(address: string): Agent {
  const family = isIP(address);
  return new Agent({
    connect: {
      lookup: (_name, options, done) => {
        if (options.all === true) done(null, [{ address, family }]);
        else done(null, address, family);
      },
    },
  });
}
