import type { Scrub } from '../../core/secret.ts';
import type { Tls } from './dispatcher.ts';

export interface TransportOptions {
  /** The one origin that is spoken to: no other ever sees the key. */
  origin: string;
  apiKey: string;
  userAgent: string;
  /** Milliseconds to connect, to the answer's headers, and between two pieces of its body. */
  timeouts: { connect: number; headers: number; idle: number };
  /** How often a request is tried without progress. */
  attempts: number;
  /** Bytes of an answer, decoded: of JSON, and of a download. */
  maxBytes: { json: number; download: number };
  /** Of all requests together; null to learn it from refusals. */
  requestsPerSecond: number | null;
  /** Is told of every request and wait, in a line without the key. */
  trace?: (line: string) => void;
  tls?: Tls;
  /** Ends every request and every wait when it is aborted. */
  signal: AbortSignal;
}

/** What those who meet answers know besides. */
export interface ConnectionOptions extends TransportOptions {
  /** Takes the key out of what an answer says. */
  scrub: Scrub;
}

export const DEFAULT_TRANSPORT = {
  timeouts: { connect: 10_000, headers: 60_000, idle: 60_000 },
  attempts: 4,
  maxBytes: { json: 64 * 2 ** 20, download: 16 * 2 ** 30 },
  requestsPerSecond: null,
} as const;
