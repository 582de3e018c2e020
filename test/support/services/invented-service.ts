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
  /** Played with the main stream. */
  tampering?: Kind;
}

export interface InventedService {
  auditUrl: string;
  /** In the order in which they came. */
  requests: readonly ReceivedRequest[];
  /** What an auditor gets to check seals, or digests that are MACs, with: key id to key. */
  sealKeys: Record<string, string>;
  close(): Promise<void>;
}

/** A service of a kind that is not ours: its digests, and what is to be found of each tampering. */
export interface ServiceKind {
  start(options: ServiceOptions): Promise<InventedService>;
  maker: ChainMaker;
  expected: Expectations;
}

export interface Call {
  method: string;
  /** Decoded, from the first segment of the path on. */
  segments: string[];
  /** As sent. */
  path: string;
  query: URLSearchParams;
  body: unknown;
  /** Of the service itself. */
  origin: string;
}

/** What a service has to tell. */
export interface Holdings {
  streams: ServedStream[];
  /** Packages end in their middle. */
  cutOff: boolean;
}

export function holdingsOf(maker: ChainMaker, tampering: Kind = 'valid'): Holdings {
  const streams = originalHistory(maker);
  const main = streams.find(({ streamId }) => streamId === MAIN_STREAM);
  if (main === undefined) throw new Error('there is no main stream');
  const { cutOff, ...played } = play(tampering, maker, main.entries);
  return { streams: streams.map((stream) => (stream === main ? { ...main, ...played } : stream)), cutOff };
}

/** The entries of a package, and those that it states to have. */
export interface PackageContents {
  streamId: string;
  entries: Sealed[];
  stated: Sealed[];
}

export function contentsOf({ streamId, entries, withheld }: ServedStream, period: Period): PackageContents {
  return { streamId, entries: within(entries, period), stated: within([...entries, ...withheld], period) };
}

/** Serves what `answer` says to those who have the key, and `refusal` to the others. */
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

/** The text member of a body; null when there is none. */
export function textMember(body: unknown, name: string): string | null {
  const value = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : null;
}

/** JSON that is text already. */
export function jsonText(text: string, more: Partial<Reply> = {}): Reply {
  return { headers: { 'content-type': 'application/json' }, body: text, ...more };
}

/** The first half of a body. */
export function halfOf(text: string): string {
  return text.slice(0, text.length >> 1);
}
