import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Reply } from '../fault-server.ts';
import { bytesOf } from './faulty.ts';

/** Changes to an answer in transit. */

export function unavailable(status: number, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, body: 'not now' };
}

/** Removes the headers that a resumed download needs. */
export function unresumable({ headers, ...truth }: Reply): Reply {
  return { ...truth, headers: { 'content-type': headers?.['content-type'] ?? '' } };
}

/** Yields the bytes in pieces, with a pause after each. */
export async function* dripping(bytes: Buffer, pieces: number, pauseMs: number): AsyncGenerator<Uint8Array> {
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
    await sleep(pauseMs);
  }
}

/** Sets a wrong Content-Length, and closes the connection after the body. */
export function withLength(reply: Reply, more: number): Reply {
  return { ...lengthOf(reply, more), end: 'close' };
}

/** Sets a wrong Content-Length. */
export function lengthOf(reply: Reply, more: number): Reply {
  const length = String(bytesOf(reply).length + more);
  return { ...reply, headers: { ...reply.headers, 'content-length': length } };
}

/** Sixty-four megabytes of spaces in some tens of kilobytes, made once because compressing takes long. */
const BOMB = gzipSync(Buffer.alloc(64 * 2 ** 20, ' ').fill('{', 0, 1));

export function gzipBomb(): Reply {
  return { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: BOMB };
}

export function gzipped(reply: Reply): Reply {
  const { etag: _etag, 'accept-ranges': _ranges, ...headers } = reply.headers ?? {};
  return { headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(bytesOf(reply)) };
}

/** Parses a body as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests change arbitrary members.
export function parse(reply: Reply): any {
  return JSON.parse(bytesOf(reply).toString());
}
