import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { AuditClient } from '../../src/client/audit.ts';
import { DEFAULT_TRANSPORT, Transport } from '../../src/client/transport.ts';

let server: Server | undefined;
let transport: Transport | undefined;

afterEach(async () => {
  await transport?.close();
  server?.closeAllConnections();
  server?.close();
});

interface Seen {
  method: string | undefined;
  url: string;
  key: string | undefined;
}

/** A client of a service that answers each request by its path and query. */
async function clientOf(answer: (url: URL, count: number) => { status?: number; body: unknown }) {
  const seen: Seen[] = [];
  server = createServer((incoming, outgoing) => {
    const key = incoming.headers['idempotency-key'];
    seen.push({ method: incoming.method, url: incoming.url ?? '', key: key === undefined ? undefined : String(key) });
    const { status = 200, body } = answer(new URL(incoming.url ?? '', 'http://x'), seen.length);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((listening) => server?.listen(0, '127.0.0.1', listening));
  const { signal } = new AbortController();
  transport = new Transport({ ...DEFAULT_TRANSPORT, apiKey: 'k', userAgent: 'test', signal });
  const client = new AuditClient(transport, `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit/`);
  return { client, seen };
}

const stream = (id: string) => ({
  stream_id: id,
  entry_count: 1,
  head_sequence: 1,
  head_hash: 'a'.repeat(64),
  created_at: '2026-10-01T00:00:00.000Z',
  last_entry_at: null,
  verified: false,
  verification_status: 'unverified',
  last_checked_at: null,
  verified_through_sequence: null,
});
const all = async <T>(items: AsyncIterable<T>) => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};
const generated = { package_id: 'p', status: 'ready', stream_id: 's', entry_count: 1, created_at: 'now' };

describe('lists', () => {
  test('are read to their last page', async () => {
    const { client, seen } = await clientOf((url) => {
      const page = Number(url.searchParams.get('cursor') ?? '0');
      return { body: { data: [stream(`s${page}`)], next_cursor: page < 2 ? String(page + 1) : null } };
    });
    expect((await all(client.listStreams())).map((one) => one.stream_id)).toEqual(['s0', 's1', 's2']);
    expect(seen.map(({ url }) => url)).toEqual([
      '/audit/streams/?limit=500',
      '/audit/streams/?limit=500&cursor=1',
      '/audit/streams/?limit=500&cursor=2',
    ]);
  });

  test('that lead back to a page are refused', async () => {
    const { client, seen } = await clientOf((url) => ({
      body: { data: [], next_cursor: url.searchParams.get('cursor') === 'a' ? 'b' : 'a' },
    }));
    await expect(all(client.listStreams())).rejects.toMatchObject({ code: 'service', message: /never ends/ });
    expect(seen.length).toBeLessThan(5);
  });

  test('of another shape are refused, naming address and field', async () => {
    const { client } = await clientOf(() => ({
      body: { data: [{ ...stream('s'), head_sequence: 'one' }], next_cursor: null },
    }));
    await expect(all(client.listStreams())).rejects.toMatchObject({
      code: 'contract',
      message: expect.stringMatching(/\/audit\/streams\/.*head_sequence/s),
    });
  });

  test('of entries are asked for by stream and period', async () => {
    const entry = { sequence: 3, hash: 'b'.repeat(64), timestamp: 't', more: 1 };
    const { client, seen } = await clientOf(() => ({ body: { data: [entry], next_cursor: null } }));
    const pages = await all(client.listEntries('a b/ü', { from: '2026-10-01T00:00:00.000Z', to: null }));
    expect(pages).toEqual([[{ sequence: 3, digest: 'b'.repeat(64), timestamp: 't' }]]);
    expect(new URL(seen[0]?.url ?? '', 'http://x').searchParams.get('stream_id')).toBe('a b/ü');
    expect(seen[0]?.url).toMatch(/from=2026-10-01T00%3A00%3A00.000Z/);
  });
});

test.each(['a/b', '../x', 'ü', 'a%2Fb', '?q=1', '#h', 'a b'])('the id %j is one segment of the path', async (id) => {
  const { client, seen } = await clientOf(() => ({
    body: {
      verification_id: 'v',
      stream_id: id,
      verified: true,
      checked_at: 't',
      entries_checked: 0,
      from_sequence: null,
      to_sequence: null,
      head_hash: null,
      failures: [],
    },
  }));
  await client.verifyStream(id);
  const [, , , segment = '', verify] = (seen[0]?.url ?? '').split('/');
  expect([decodeURIComponent(segment), verify]).toEqual([id, 'verify']);
});

test.each(['.', '..', ''])('the id %j, which no path can hold, is refused', async (id) => {
  const { client, seen } = await clientOf(() => ({ body: {} }));
  await expect(client.verifyStream(id)).rejects.toMatchObject({ code: 'service' });
  expect(seen).toEqual([]);
});

test('generate sends the same idempotency key at every attempt', async () => {
  const { client, seen } = await clientOf((_url, count) =>
    count === 1 ? { status: 503, body: {} } : { body: generated },
  );
  await client.generate('s', { from: null, to: null }, 'key-1');
  expect(seen.map(({ method, key }) => [method, key])).toEqual([
    ['POST', 'key-1'],
    ['POST', 'key-1'],
  ]);
});

test('a download puts exactly the bytes that came into the file', async () => {
  const { client } = await clientOf(() => ({ body: '{"entries":[]}' }));
  const file = join(mkdtempSync(join(tmpdir(), 'download-')), 'json');
  const observed: string[] = [];
  const { exchange } = await client.download('p', 'json', file, {
    restart: () => observed.push('restart'),
    chunk: (bytes) => {
      observed.push(Buffer.from(bytes).toString());
    },
  });
  expect(readFileSync(file, 'utf8')).toBe('{"entries":[]}');
  expect(observed).toEqual(['restart', '{"entries":[]}']);
  expect(exchange.bytes).toBe(14);
});
