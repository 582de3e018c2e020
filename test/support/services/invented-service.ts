import { type ReceivedRequest, type Reply, startFaultServer } from '../fault-server.ts';
import type { Expectations } from './expectation.ts';
import {
  type ChainMaker,
  MAIN_STREAM,
  originalHistory,
  type Period,
  type Sealed,
  type ServedStream,
  within,
} from './history.ts';
import { type Kind, play } from './tampering.ts';

export interface ServiceOptions {
  apiKey: string;
  /** Kind of tampering with the main stream. */
  tampering?: Kind;
}

export interface InventedService {
  auditUrl: string;
  /** Received requests, in order. */
  requests: readonly ReceivedRequest[];
  /** Keys that an auditor receives for checking seals, or digests that are MACs, by id. */
  sealKeys: Record<string, string>;
  close(): Promise<void>;
}

/** A kind of service other than ours: its digests, and the expected findings of each tampering. */
export interface ServiceKind {
  start(options: ServiceOptions): Promise<InventedService>;
  maker: ChainMaker;
  expected: Expectations;
}

export interface Call {
  method: string;
  /** Decoded segments of the path. */
  segments: string[];
  /** Path as sent. */
  path: string;
  query: URLSearchParams;
  body: unknown;
  /** Origin of the service. */
  origin: string;
}

/** Streams of a service. */
export interface Holdings {
  streams: ServedStream[];
  /** True if packages end in the middle. */
  cutOff: boolean;
}

export function holdingsOf(maker: ChainMaker, tampering: Kind = 'valid'): Holdings {
  const streams = originalHistory(maker);
  const main = streams.find(({ streamId }) => streamId === MAIN_STREAM);
  if (main === undefined) throw new Error('there is no main stream');
  const { cutOff, ...played } = play(tampering, maker, main.entries);
  return { streams: streams.map((stream) => (stream === main ? { ...main, ...played } : stream)), cutOff };
}

/** Entries of a package, and the entries that it states. */
export interface PackageContents {
  streamId: string;
  entries: Sealed[];
  stated: Sealed[];
}

export function contentsOf({ streamId, entries, withheld }: ServedStream, period: Period): PackageContents {
  return { streamId, entries: within(entries, period), stated: within([...entries, ...withheld], period) };
}

/** Serves `answer` to requests with the key, and `refusal` to others. */
export async function serve(
  apiKey: string,
  answer: (call: Call) => Reply | Promise<Reply>,
  refusal: Reply,
  isOpen: (path: string) => boolean = () => false,
): Promise<Omit<InventedService, 'sealKeys'>> {
  const server = await startFaultServer((request) => {
    const call = toCall(request, server.url);
    if (!isOpen(call.path) && request.headers.authorization !== `Bearer ${apiKey}`) return refusal;
    return answer(call);
  });
  return { auditUrl: server.url, requests: server.requests, close: server.close };
}

function toCall({ method, path, body }: ReceivedRequest, origin: string): Call {
  const url = new URL(path, origin);
  return {
    method,
    path: url.pathname,
    segments: url.pathname.split('/').slice(1).map(decodeURIComponent),
    query: url.searchParams,
    body: parse(body),
    origin,
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Returns a text member of a body; null if there is none. */
export function textMember(body: unknown, name: string): string | null {
  const value = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : null;
}

/** Returns a reply with JSON text. */
export function jsonText(text: string, more: Partial<Reply> = {}): Reply {
  return { headers: { 'content-type': 'application/json' }, body: text, ...more };
}

/** Returns the first half of a body. */
export function halfOf(text: string): string {
  return text.slice(0, text.length >> 1);
}
