import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress } from '../../core/address.ts';
import { HttpProblem } from './problem.ts';

const WINDOW_MS = 60_000;

/** Maximum number of callers counted separately in a minute; all others share one count. */
const MOST = 100_000;

/** Limits the requests of a sender per minute. Each process counts separately. */
export class RateLimit {
  readonly #name: string;
  readonly #quota: number;
  readonly #clock: () => Date;
  readonly #counts = new Map<string, number>();
  #window = 0;

  /** @param name of the policy, as in the headers. */
  constructor(name: string, quota: number, clock: () => Date) {
    this.#name = name;
    this.#quota = quota;
    this.#clock = clock;
  }

  /** Counts a request, and adds the rate limit headers. @throws HttpProblem 429 if the limit is exceeded. */
  count(who: string, reply: FastifyReply): void {
    const now = this.#clock().getTime();
    const window = Math.floor(now / WINDOW_MS);
    if (window !== this.#window) this.#counts.clear();
    this.#window = window;
    const counted = this.#counts.has(who) || this.#counts.size < MOST ? who : '';
    const count = (this.#counts.get(counted) ?? 0) + 1;
    this.#counts.set(counted, count);
    const seconds = Math.ceil(((window + 1) * WINDOW_MS - now) / 1000);
    // https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-10
    reply.header('ratelimit-policy', `"${this.#name}";q=${this.#quota};w=${WINDOW_MS / 1000}`);
    reply.header('ratelimit', `"${this.#name}";r=${Math.max(0, this.#quota - count)};t=${seconds}`);
    if (count <= this.#quota) return;
    throw new HttpProblem(
      429,
      'too_many_requests',
      `more than ${this.#quota} requests in a minute; retry in ${seconds} s`,
      {
        retry_after: seconds,
      },
    );
  }
}

/** Returns the network of a request: the address, or the /64 of an IPv6 address. */
export function networkOf({ ip }: FastifyRequest): string {
  const address = plainAddress(ip);
  if (!isIPv6(address)) return address;
  const [front = '', back] = address.split('::');
  const head = front.split(':').filter((group) => group !== '');
  const tail = (back ?? '').split(':').filter((group) => group !== '');
  const zeros = back === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<string>(Math.max(0, zeros)).fill('0'), ...tail].slice(0, 4).join(':');
}
