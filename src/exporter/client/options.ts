import type { Scrub } from '../../core/secret.ts';
import type { SentRequest } from './call.ts';
import type { DispatchLimits } from './dispatch.ts';
import type { Tls } from './dispatcher.ts';
import type { SharedRate } from './rate.ts';
import type { CallLimits } from './retry.ts';

/** Time limits in milliseconds. */
interface Timeouts {
  connect: number;
  /** Limit until the head of the answer. */
  headers: number;
  /** Limit between two chunks of the body. */
  idle: number;
  /** Total of all attempts at a call with a JSON answer, without the waits between them. */
  request: number;
  /** Total of all attempts at a download, counted like `request`. */
  download: number;
}

// Over ten members: one for each thing that a service could do without bound.
export interface TransportOptions {
  /** The only origin that requests are sent to, so that no other server sees the key. */
  origin: string;
  apiKey: string;
  userAgent: string;
  timeouts: Timeouts;
  /** Minimum rate of a body, measured over `RATE_WINDOWS` times the idle limit. */
  bytesPerSecond: number;
  /** Number of attempts at a request without progress. */
  attempts: number;
  /** Maximum wait in milliseconds that a service can impose on a call by Retry-After: each time, and in total. */
  waits: { longest: number; inAll: number };
  /** Maximum number of pages of one list. */
  maxPages: number;
  /** Maximum decoded size of an answer: of JSON, and of a download. */
  maxBytes: { json: number; download: number };
  /** Rate of all requests together; null to learn it from refusals. */
  requestsPerSecond: number | null;
  /** Rate shared with other processes; null if this process alone sends requests to the service. */
  sharedRate: SharedRate | null;
  /** Receives a line for every request and wait, without the key. */
  trace?: (line: string) => void;
  /** Receives every request that was sent. */
  onRequest?: (request: SentRequest) => void;
  /** Receives a line for every long wait that the service asks for, without the key. */
  onWait?: (line: string) => void;
  tls?: Tls;
  /** Ends every request and every wait when it is aborted. */
  signal: AbortSignal;
}

/** Options for code that reads answers. */
export interface ConnectionOptions extends TransportOptions {
  /** Removes the key from texts of answers. */
  scrub: Scrub;
}

/** Number of idle limits over which the rate of a body is measured. */
const RATE_WINDOWS = 5;

/** Returns the limits of one call. */
export function callLimits(options: ConnectionOptions, kind: 'request' | 'download'): CallLimits {
  const { attempts, timeouts, bytesPerSecond, waits, trace, onWait, scrub } = options;
  const scrubbed = (line: string) => onWait?.(scrub(line));
  return { attempts, callMs: timeouts[kind], bytesPerSecond, waits, trace, onWait: scrubbed };
}

/** Returns the limits of one request. @param wholeMs milliseconds that are left for its call. */
export function dispatchLimits({ timeouts, bytesPerSecond }: TransportOptions, wholeMs: number): DispatchLimits {
  const headMs = Math.min(timeouts.connect + timeouts.headers, wholeMs);
  return { headMs, wholeMs, least: { bytesPerSecond, windowMs: RATE_WINDOWS * timeouts.idle } };
}

export const DEFAULT_TRANSPORT = {
  timeouts: { connect: 10_000, headers: 60_000, idle: 60_000, request: 600_000, download: 6 * 3_600_000 },
  bytesPerSecond: 1000,
  attempts: 4,
  waits: { longest: 300_000, inAll: 900_000 },
  // Enough for five million records in pages of 500.
  maxPages: 10_000,
  maxBytes: { json: 64 * 2 ** 20, download: 16 * 2 ** 30 },
  requestsPerSecond: null,
  sharedRate: null,
} as const;
