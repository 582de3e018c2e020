import { createHash } from 'node:crypto';
import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { AuditClient } from '../../../src/exporter/client/audit.ts';
import { DEFAULT_TRANSPORT } from '../../../src/exporter/client/options.ts';
import { Transport } from '../../../src/exporter/client/transport.ts';
import type { Description } from '../../../src/verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../../src/verifier/reading/default-contract.ts';
import { json, type ReceivedRequest, type Reply, startFaultServer } from '../../support/fault-server.ts';

const open: { close(): Promise<void> }[] = [];
const folder = await mkdtemp(join(tmpdir(), 'client-'));

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function connect(...replies: Parameters<typeof startFaultServer>) {
  return connectAs(DEFAULT_DESCRIPTION, ...replies);
}

function connectAs(description: Description, ...replies: Parameters<typeof startFaultServer>) {
  return connectWith({}, description, ...replies);
}

async function connectWith(
  more: { attempts?: number },
  description: Description,
  ...replies: Parameters<typeof startFaultServer>
) {
  const server = await startFaultServer(...replies);
  const signal = new AbortController().signal;
  const timeouts = { ...DEFAULT_TRANSPORT.timeouts, connect: 1000, headers: 1000, idle: 500 };
  const who = { origin: server.url, apiKey: 'sk_test', userAgent: 'test/1' };
  const transport = new Transport({ ...DEFAULT_TRANSPORT, ...who, timeouts, signal, ...more });
  open.push(server, transport);
  const service = { url: `${server.url}/audit//`, description, pinned: false, signal };
  return { server, client: new AuditClient(transport, service) };
}

const stream = (id: string) => ({
  stream_id: id,
  entry_count: 1,
  head_sequence: 1,
  head_hash: 'a'.repeat(64),
  created_at: 'then',
  last_entry_at: null,
  verified: false,
  verification_status: 'unverified',
  last_checked_at: null,
  verified_through_sequence: null,
});
const page = (ids: string[], next: string | null) => json({ data: ids.map(stream), next_cursor: next });
const GENERATED = { package_id: 'p', status: 'ready', stream_id: 's', entry_count: 0, created_at: 'now' };
const VERIFICATION = {
  verification_id: 'v',
  stream_id: 's',
  verified: true,
  checked_at: 'now',
  entries_checked: 0,
  from_sequence: null,
  to_sequence: null,
  head_hash: null,
  failures: [],
};

async function listed(client: AuditClient): Promise<string[]> {
  const ids: string[] = [];
  for await (const { streamId } of client.listStreams()) ids.push(streamId);
  return ids;
}

describe('a list', () => {
  test('is read page by page, empty pages included', async () => {
    const { server, client } = await connect(page(['a', 'b'], 'c&=/ü'), page([], 'd'), page(['c'], null));
    expect(await listed(client)).toEqual(['a', 'b', 'c']);
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/audit/streams/?limit=500',
      '/audit/streams/?limit=500&cursor=c%26%3D%2F%C3%BC',
      '/audit/streams/?limit=500&cursor=d',
    ]);
  });

  test.each([
    ['at once', [page(['a'], 'x'), page(['b'], 'x')]],
    ['after a while', [page(['a'], 'x'), page(['b'], 'y'), page(['c'], 'z'), page(['d'], 'y')]],
  ])('that leads back to a page is refused: %s', async (_words, replies) => {
    const { server, client } = await connect(...replies);
    await expect(listed(client)).rejects.toMatchObject({
      code: 'service',
      message: expect.stringContaining('never ends'),
    });
    expect(server.requests).toHaveLength(replies.length);
  });

  test('nothing is asked for that nobody takes', async () => {
    const { server, client } = await connect(page(['a'], 'x'), page(['b'], null));
    for await (const { streamId } of client.listStreams()) {
      expect(streamId).toBe('a');
      break;
    }
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['the first page', [{ status: 404 }], expect.stringContaining('its path is probably missing or wrong')],
    ['a later page', [page(['a'], 'x'), { status: 404 }], undefined],
  ])('without %s: whether the address is doubted', async (_words, replies, nextStep) => {
    const { client } = await connect(...replies);
    await expect(listed(client)).rejects.toMatchObject({ code: 'not-found', nextStep });
  });

  test('of entries is filtered by stream and period', async () => {
    const entry = {
      stream_id: 'a&b',
      sequence: 3,
      hash: 'b'.repeat(64),
      timestamp: '2026-10-01T00:00:00.000Z',
      more: 'is not asked for',
    };
    const page = { data: [entry], next_cursor: null };
    const sent = JSON.stringify(page);
    const path = '/audit/entries/?stream_id=a%26b&from=2026-10-01T00%3A00%3A00.000Z&limit=500';
    const { server, client } = await connect(json(page));
    const pages: unknown[] = [];
    for await (const entries of client.listEntries('a&b', { from: '2026-10-01T00:00:00.000Z', to: null }))
      pages.push(entries);
    expect(pages).toEqual([
      {
        matched: 0,
        entries: [{ sequence: 3, digest: entry.hash, timestamp: '2026-10-01T00:00:00.000Z' }],
        received: [{ path, entries: 1, bytes: sent.length, sha256: createHash('sha256').update(sent).digest('hex') }],
      },
    ]);
    expect(server.requests[0]?.path).toBe(path);
  });
});

describe('an answer of another shape names address and field', () => {
  const cases: [string, Reply, (client: AuditClient) => Promise<unknown>, RegExp][] = [
    ['a list that is an array', json([stream('a')]), listed, /\/audit\/streams\/\?limit=500 has no list "data"/],
    ['a list with another name', json({ items: [], next_cursor: null }), listed, /data/],
    ['a list without an end', json({ data: [] }), listed, /next_cursor/],
    [
      'a stream without a count',
      json({ data: [{ ...stream('a'), entry_count: '7' }], next_cursor: null }),
      listed,
      /\/audit\/streams\/.*"entry_count" of a stream/,
    ],
    [
      'a stream with a head that is no digest',
      json({ data: [{ ...stream('a'), head_hash: 'x' }], next_cursor: null }),
      listed,
      /"head_hash" of a stream/,
    ],
    [
      'a package without an id',
      json({ ...GENERATED, package_id: undefined }),
      (client) => client.generate('s', { from: null, to: null }, 'k'),
      /\/evidence\/generate:.*package_id/s,
    ],
    [
      'a package of another status',
      json({ ...GENERATED, status: 'soon' }),
      (client) => client.awaitPackage('p'),
      /\/evidence\/p:.*status/s,
    ],
    [
      'a verification without a verdict',
      json({ ...VERIFICATION, verified: 'yes' }),
      (client) => client.verifyStream('s'),
      /\/streams\/s\/verify:.*verified/s,
    ],
  ];
  test.each(cases)('%s', async (_words, reply, call, message) => {
    const { client } = await connect(reply);
    await expect(call(client)).rejects.toMatchObject({ code: 'contract', message: expect.stringMatching(message) });
  });
});

const IDS = ['a/b', 'a?b#c', '%2e%2e', 'ü \u{1f600}', '../../evidence', 'a\\b', '...', "';--"];

describe('an id is one segment of a path', () => {
  test.each(IDS)('%s', async (id) => {
    const reply = ({ path }: ReceivedRequest) =>
      path.includes('verify') ? json({ ...VERIFICATION, stream_id: id }) : json({ ...GENERATED, package_id: id });
    const { server, client } = await connect(reply);
    await client.verifyStream(id);
    await client.awaitPackage(id);
    await client.download(id, 'summary', join(folder, 'ids'), { restart: () => {}, chunk: () => {} });
    const segments = server.requests.map(({ path }) => path.split('/').map(decodeURIComponent));
    expect(segments).toEqual([
      ['', 'audit', 'streams', id, 'verify'],
      ['', 'audit', 'evidence', id],
      ['', 'audit', 'evidence', id, 'summary'],
    ]);
  });

  test.each(['', '.', '..', '\ud800'])('%j cannot be one, and nothing is sent', async (id) => {
    const { server, client } = await connect(json({}));
    for (const call of [
      () => client.verifyStream(id),
      () => client.awaitPackage(id),
      () => client.download(id, 'json', join(folder, 'none'), { restart: () => {}, chunk: () => {} }),
    ])
      await expect(call()).rejects.toMatchObject({
        code: 'service',
        message: expect.stringContaining(JSON.stringify(id)),
      });
    expect(server.requests).toEqual([]);
  });
});

describe('generate', () => {
  test('sends stream, period and one idempotency key, the same at every attempt', async () => {
    const { server, client } = await connect({ status: 503 }, { end: 'reset' }, json(GENERATED));
    const { generated, exchange } = await client.generate('s', { from: 'f', to: 't' }, 'key-1');
    expect([generated.packageId, exchange.attempts]).toEqual(['p', 3]);
    expect(server.requests.map(({ headers, body }) => [headers['idempotency-key'], JSON.parse(body)])).toEqual(
      Array(3).fill(['key-1', { stream_id: 's', from: 'f', to: 't' }]),
    );
  });

  describe('of a service that knows no idempotency keys', () => {
    const generate = { ...DEFAULT_DESCRIPTION.generate, idempotency_header: null };
    const asked = (first: Reply) => connectAs({ ...DEFAULT_DESCRIPTION, generate }, first, json(GENERATED));

    test.each<[string, Reply]>([
      ['500', { status: 500 }],
      ['502', { status: 502 }],
      ['504', { status: 504 }],
      ['a lost connection', { end: 'reset' }],
    ])('is tried again after %s', async (_words, first) => {
      const { server, client } = await asked(first);
      const { generated } = await client.generate('s', { from: null, to: null }, 'k');
      expect([generated.packageId, server.requests.length]).toEqual(['p', 2]);
      expect(server.requests[1]?.headers['idempotency-key']).toBeUndefined();
    });

    test.each([409, 422])('is not tried again after %i', async (status) => {
      const { server, client } = await asked({ status });
      await expect(client.generate('s', { from: null, to: null }, 'k')).rejects.toMatchObject({ code: 'service' });
      expect(server.requests).toHaveLength(1);
    });
  });

  test('leaves out the ends that a period does not have', async () => {
    const { server, client } = await connect(json(GENERATED));
    await client.generate('s', { from: null, to: null }, 'k');
    expect(server.requests[0]?.body).toBe('{"stream_id":"s"}');
  });
});

describe('a download', () => {
  const summary = (body: string, more: Partial<Reply> = {}): Reply => ({
    headers: { 'content-type': 'text/plain' },
    body,
    ...more,
  });

  test('that breaks begins anew, in the file and for who looks on', async () => {
    const { client } = await connect(summary('the first, longer version', { end: 'cut' }), summary('the second'));
    const file = join(folder, 'again');
    const seen: string[] = [];
    const { exchange, contentType } = await client.download('p', 'summary', file, {
      restart: () => {
        seen.length = 0;
        seen.push('restart');
      },
      chunk: (bytes) => {
        seen.push(Buffer.from(bytes).toString());
      },
    });
    expect([seen[0], seen.slice(1).join(''), contentType]).toEqual(['restart', 'the second', 'text/plain']);
    expect(await readFile(file, 'utf8')).toBe('the second');
    expect(exchange).toMatchObject({ path: '/audit/evidence/p/summary', attempts: 2, bytes: 10 });
  });

  test('that breaks for ever leaves what came, and the error', async () => {
    const { client } = await connectWith({ attempts: 2 }, DEFAULT_DESCRIPTION, summary('0123456789', { end: 'stall' }));
    const file = join(folder, 'part');
    const call = client.download('p', 'summary', file, { restart: () => {}, chunk: () => {} });
    await expect(call).rejects.toMatchObject({ code: 'unreachable' });
    expect(await readFile(file, 'utf8')).toBe('01234');
  });

  test('is for this user alone', async () => {
    const { client } = await connect(summary('x'));
    const file = join(folder, 'mode');
    await client.download('p', 'summary', file, { restart: () => {}, chunk: () => {} });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('that is refused makes no file', async () => {
    const { client } = await connect({
      status: 409,
      headers: { 'content-type': 'application/json' },
      body: '{"code":"not_ready"}',
    });
    const file = join(folder, 'refused');
    const call = client.download('p', 'summary', file, { restart: () => {}, chunk: () => {} });
    await expect(call).rejects.toMatchObject({ message: expect.stringContaining('not_ready') });
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
