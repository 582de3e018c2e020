import { lookup as resolveName } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, request } from 'undici';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { isPublic } from './addresses.ts';

/** A request to somebody else. */
export interface OutgoingRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array | string;
}

/** An answer. Redirects are answers like any other: nobody is sent on by them. */
export interface OutgoingAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

export interface DispatcherOptions {
  /** Hosts of the inside that the configuration names, as `host` or `host:port`. */
  allowed?: Iterable<string>;
  /** For the whole exchange. */
  timeoutMs?: number;
  maxAnswerBytes?: number;
  /** All addresses of a name. */
  resolve?: (name: string) => Promise<readonly string[]>;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * The one way out of the platform. A name is resolved once, each of its addresses is looked at, and the connection goes to
 * one that was: a name that means something else a moment later leads nowhere else. Addresses of the inside are refused,
 * unless the configuration names their host.
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
   * @throws EvidenceError `refused` for an address that nothing may be sent to, `unreachable` when nothing answers in time,
   * `service` for an answer that is too large.
   */
  async send({ url, method, headers, body }: OutgoingRequest): Promise<OutgoingAnswer> {
    const address = await this.#addressFor(url);
    // One signal for all of it: a body that trickles holds nobody up.
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

  /** An address of a host to which requests may be sent. */
  async #addressFor(url: URL): Promise<string> {
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new EvidenceError('refused', `${url.protocol} is not http or https; nothing was sent`);
    const name = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(name) !== 0 ? [name] : await this.#resolved(name);
    const [first] = addresses;
    if (first === undefined) throw new EvidenceError('unreachable', `${name} has no address`);
    const isNamed = this.#allowed.has(url.hostname.toLowerCase()) || this.#allowed.has(url.host.toLowerCase());
    if (!isNamed && !addresses.every(isPublic))
      throw new EvidenceError('refused', `${name} is an address of the inside; nothing was sent`, {
        nextStep: `If it is meant, name ${url.host} among outgoing_hosts in the configuration of the platform.`,
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

/** Whatever a request's host means to others, its connection goes to this address. The certificate is that of the host. */
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
