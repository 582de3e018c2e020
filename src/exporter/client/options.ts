import type { Scrub } from '../../core/secret.ts';
import type { SentRequest } from './call.ts';
import type { DispatchLimits } from './dispatch.ts';
import type { Tls } from './dispatcher.ts';
import type { SharedRate } from './rate.ts';
import type { CallLimits } from './retry.ts';

/** In milliseconds. */
interface Timeouts {
  connect: number;
  /** To the head of the answer. */
  headers: number;
  /** Between two pieces of its body. */
  idle: number;
  /** For a call whose answer is JSON: all its attempts, without the waits between them. */
  request: number;
  /** The same for a download. */
  download: number;
}

// Over ten members: one for each thing that a service could do without bound.
export interface TransportOptions {
  /** The one origin that is spoken to: no other ever sees the key. */
  origin: string;
  apiKey: string;
  userAgent: string;
  timeouts: Timeouts;
  /** The least that a body must bring, over `RATE_WINDOWS` times the longest that it may bring nothing. */
  bytesPerSecond: number;
  /** The number of tries of a request without progress. */
  attempts: number;
  /** Milliseconds that a service can make a call wait by Retry-After: at a time, and in all. */
  waits: { longest: number; inAll: number };
  /** Pages of one list. */
  maxPages: number;
  /** Bytes of an answer, decoded: of JSON, and of a download. */
  maxBytes: { json: number; download: number };
  /** The rate of all requests together; null to learn it from refusals. */
  requestsPerSecond: number | null;
  /** Keeps that rate over several processes; null where this one alone asks the service. */
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

/** Options for those who meet answers. */
export interface ConnectionOptions extends TransportOptions {
  /** Takes the key out of what an answer says. */
  scrub: Scrub;
}

/** Idle limits over which the rate of a body is measured. */
const RATE_WINDOWS = 5;

/** The bounds of one call. */
export function callLimits(options: ConnectionOptions, kind: 'request' | 'download'): CallLimits {
  const { attempts, timeouts, bytesPerSecond, waits, trace, onWait, scrub } = options;
  const scrubbed = (line: string) => onWait?.(scrub(line));
  return { attempts, callMs: timeouts[kind], bytesPerSecond, waits, trace, onWait: scrubbed };
}

/** The bounds of one request. @param wholeMs milliseconds that are left for its call. */
export function dispatchLimits({ timeouts, bytesPerSecond }: TransportOptions, wholeMs: number): DispatchLimits {
  const headMs = Math.min(timeouts.connect + timeouts.headers, wholeMs);
  return { headMs, wholeMs, least: { bytesPerSecond, windowMs: RATE_WINDOWS * timeouts.idle } };
}

export const DEFAULT_TRANSPORT = {
  timeouts: { connect: 10_000, headers: 60_000, idle: 60_000, request: 600_000, download: 6 * 3_600_000 },
  bytesPerSecond: 1000,
  attempts: 4,
  waits: { longest: 300_000, inAll: 900_000 },
  // Pages of 500 records each make five million.
  maxPages: 10_000,
  maxBytes: { json: 64 * 2 ** 20, download: 16 * 2 ** 30 },
  requestsPerSecond: null,
  sharedRate: null,
} as const;
