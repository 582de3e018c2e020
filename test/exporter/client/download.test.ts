import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import type { Accepts } from '../../../src/exporter/client/call.ts';
import { DEFAULT_TRANSPORT, type TransportOptions } from '../../../src/exporter/client/options.ts';
import { type FaultServer, type ReceivedRequest, type Reply, startFaultServer } from '../../support/fault-server.ts';
import { API_KEY, connectTo, failure } from './connect.ts';
import { startRawServer } from './raw-server.ts';

const open: { close(): Promise<void> }[] = [];
const folder = mkdtempSync(join(tmpdir(), 'download-'));
let files = 0;

afterAll(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serve(...replies: Parameters<typeof startFaultServer>): Promise<FaultServer> {
  const server = await startFaultServer(...replies);
  open.push(server);
  return server;
}

/** Downloads, and records the observer's events. */
function download(url: string, accepts: Accepts = 'any', more: Partial<TransportOptions> = {}) {
  const transport = connectTo(url, more);
  open.push(transport);
  const file = join(folder, `${files++}`);
  const seen = { restarts: 0, text: '' };
  const observer = {
    restart: () => {
      seen.restarts++;
      seen.text = '';
    },
    chunk: (bytes: Uint8Array) => {
      seen.text += Buffer.from(bytes).toString('latin1');
    },
  };
  const done = transport.download({ method: 'GET', url, repeatable: true, accepts }, file, observer);
  return { done, file, seen, text: () => readFile(file, 'latin1') };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const ranges = (server: FaultServer) => server.requests.map(({ headers }) => headers.range ?? null);

/** The first version, of which half arrives, and another that may replace it. */
const FIRST = '0123456789abcdefghij';
const OTHER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const etag = '"v1"';
const cut = (headers: Record<string, string> = { etag }): Reply => ({ body: FIRST, headers, end: 'cut' });
const rest = (headers: Record<string, string> = {}): Reply => ({
  status: 206,
  headers: { etag, 'content-range': 'bytes 10-19/20', ...headers },
  body: FIRST.slice(10),
});

describe.concurrent('a download that breaks', () => {
  test('is continued where it broke, once for file, digest and observer', async () => {
    const server = await serve(cut({ etag, 'content-type': 'text/x' }), rest({ 'x-request-id': 'second' }));
    const { done, seen, text } = download(server.url);
    const { exchange, contentType } = await done;
    expect([await text(), seen, contentType]).toEqual([FIRST, { restarts: 1, text: FIRST }, 'text/x']);
    expect(exchange).toMatchObject({
      status: 206,
      attempts: 2,
      bytes: 20,
      sha256: sha256(FIRST),
      request_id: 'second',
    });
    expect(ranges(server)).toEqual([null, 'bytes=10-']);
    expect(server.requests.map(({ headers }) => headers['if-range'])).toEqual([undefined, etag]);
  });

  test('is continued by parts that are shorter than asked for', async () => {
    const part = ({ headers }: ReceivedRequest): Reply => {
      const from = Number(/\d+/.exec(headers.range ?? '')?.[0]);
      const range = `bytes ${from}-${from + 1}/20`;
      return { status: 206, headers: { etag, 'content-range': range }, body: FIRST.slice(from, from + 2) };
    };
    const server = await serve(cut(), part);
    const { done, text } = download(server.url, 'any', { attempts: 2 });
    expect(await done).toMatchObject({ exchange: { attempts: 6, sha256: sha256(FIRST) } });
    expect(await text()).toBe(FIRST);
  });

  const SECOND_VERSION: [string, Reply][] = [
    ['200', { body: OTHER, headers: { etag: '"v2"' } }],
    ['200 with the same ETag', { body: OTHER, headers: { etag } }],
  ];
  test.each(SECOND_VERSION)('begins anew when the whole comes instead: %s', async (_words, reply) => {
    const server = await serve(cut(), reply);
    const { done, seen, text } = download(server.url);
    expect((await done).exchange).toMatchObject({ status: 200, attempts: 2, bytes: 26, sha256: sha256(OTHER) });
    expect([await text(), seen]).toEqual([OTHER, { restarts: 2, text: OTHER }]);
  });

  const ODD: [string, Reply][] = [
    ['416', { status: 416, headers: { 'content-range': 'bytes */5' } }],
    ['206 from elsewhere', { ...rest({ 'content-range': 'bytes 9-18/20' }) }],
    ['206 from the beginning', { ...rest({ 'content-range': 'bytes 0-9/20' }) }],
    ['206 of another length', rest({ 'content-range': 'bytes 10-19/21' })],
    ['206 beyond its own end', { ...rest({ 'content-range': 'bytes 10-20/20' }), body: 'klmnopqrstu' }],
    ['206 from further on', { ...rest({ 'content-range': 'bytes 12-19/20' }), body: FIRST.slice(12) }],
    ['206 that ends before it begins', rest({ 'content-range': 'bytes 10-9/20' })],
    ['206 of another version', rest({ etag: '"v2"' })],
    ['206 of a weak version', rest({ etag: `W/${etag}` })],
    ['206 without a range', { status: 206, body: FIRST.slice(10), headers: { etag } }],
    ['206 in other units', rest({ 'content-range': 'lines 10-19/20' })],
    ['206 with a part of another length', { ...rest(), body: 'klmno' }],
    ['206 that is encoded', { ...rest({ 'content-encoding': 'gzip' }), body: gzipSync(FIRST.slice(10)) }],
    ['206 in several parts', rest({ 'content-range': '', 'content-type': 'multipart/byteranges; boundary=x' })],
  ];
  test.each(ODD)('begins anew after %s, and never splices', async (_words, reply) => {
    const server = await serve(cut(), reply, { body: OTHER });
    const { done, seen, text } = download(server.url);
    expect((await done).exchange).toMatchObject({ status: 200, attempts: 3, sha256: sha256(OTHER) });
    expect([await text(), seen]).toEqual([OTHER, { restarts: 2, text: OTHER }]);
    expect(ranges(server)).toEqual([null, 'bytes=10-', null]);
  });

  const NOT_CONTINUED: [string, Record<string, string>][] = [
    ['without an ETag', {}],
    ['with a weak one', { etag: 'W/"v1"' }],
    ['with one that is none', { etag: 'v1' }],
    ['with a date only', { 'last-modified': 'Sun, 01 Nov 2026 00:00:00 GMT' }],
    ['of a service without ranges', { etag, 'accept-ranges': 'none' }],
  ];
  test.each(NOT_CONTINUED)('begins anew %s', async (_words, headers) => {
    const server = await serve(cut(headers), { body: OTHER });
    const { done, seen, text } = download(server.url);
    await done;
    expect([await text(), seen.restarts, ranges(server)]).toEqual([OTHER, 2, [null, null]]);
  });

  test('begins anew when it is encoded', async () => {
    const body = gzipSync(FIRST.repeat(50));
    const headers = { etag, 'content-encoding': 'gzip' };
    const server = await serve({ body, headers, end: 'cut' }, { body, headers });
    const { done, text } = download(server.url);
    expect((await done).exchange).toMatchObject({ bytes: 1000, sha256: sha256(FIRST.repeat(50)) });
    expect([await text(), ranges(server)]).toEqual([FIRST.repeat(50), [null, null]]);
  });

  test('goes on for as long as it comes further', async () => {
    const tail = ({ headers }: ReceivedRequest): Reply => {
      const from = Number(/\d+/.exec(headers.range ?? 'bytes=0')?.[0]);
      const body = FIRST.slice(from);
      const range = `bytes ${from}-19/20`;
      const end = body.length > 1 ? { end: 'cut' as const } : {};
      return { status: from === 0 ? 200 : 206, headers: { etag, 'content-range': range }, body, ...end };
    };
    const server = await serve(tail);
    const { done, text } = download(server.url, 'any', { attempts: 2 });
    expect((await done).exchange).toMatchObject({ attempts: 6, sha256: sha256(FIRST) });
    expect(await text()).toBe(FIRST);
  });

  test('keeps what came when it never comes further', async () => {
    const server = await serve(cut(), { end: 'reset' });
    const { done, text } = download(server.url, 'any', { attempts: 3 });
    expect((await failure(done)).code).toBe('unreachable');
    expect([await text(), server.requests.length]).toEqual([FIRST.slice(0, 10), 4]);
  });
});

describe.concurrent('a body and its stated length', () => {
  const whole = (socket: { write(text: string): unknown }) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine');
  const LONGER: [string, string][] = [
    ['kept open', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour and more'],
    ['closed', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfour and more'],
    ['which looks like an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfourHTTP/1.1 200 OK\r\n\r\n'],
  ];

  test.each(LONGER)('longer, %s: asked for again, from the beginning', async (_words, text) => {
    const server = await startRawServer((socket, turn) => (turn === 0 ? socket.write(text) : whole(socket)));
    open.push(server);
    const call = download(server.url);
    expect((await call.done).exchange).toMatchObject({ attempts: 2, bytes: 4 });
    expect(await call.text()).toBe('fine');
  });

  test.each(LONGER)('longer for ever, %s', async (_words, text) => {
    const server = await startRawServer((socket) => socket.write(text));
    open.push(server);
    const error = await failure(download(server.url, 'any', { attempts: 2 }).done);
    expect(error).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('longer than its Content-Length'),
    });
    expect(server.turns()).toBe(3);
    await expect(
      connectTo(server.url, { attempts: 1 }).json({ method: 'GET', url: server.url, repeatable: true }),
    ).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('longer: not continued, though the version is known', async () => {
    const server = await serve({ body: FIRST, headers: { etag, 'content-length': '5' } }, { body: OTHER });
    const call = download(server.url);
    await call.done;
    expect([await call.text(), ranges(server)]).toEqual([OTHER, [null, null]]);
  });

  test('stated only by a part: the rest is asked for', async () => {
    const part = (range: string, body: string) =>
      `HTTP/1.1 206 Partial Content\r\nETag: ${etag}\r\nContent-Range: bytes ${range}/20\r\nContent-Length: 5\r\n\r\n${body}`;
    const server = await startRawServer((socket, turn) => {
      if (turn === 0)
        socket.end(`HTTP/1.1 200 OK\r\nETag: ${etag}\r\nTransfer-Encoding: chunked\r\n\r\na\r\n${FIRST.slice(0, 10)}`);
      else socket.write(turn === 1 ? part('10-14', FIRST.slice(10, 15)) : part('15-19', FIRST.slice(15)));
    });
    open.push(server);
    const call = download(server.url);
    expect((await call.done).exchange).toMatchObject({ attempts: 3, sha256: sha256(FIRST) });
    expect(await call.text()).toBe(FIRST);
  });

  test('shorter, and closed: asked for again, then given up', async () => {
    const server = await startRawServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour'));
    open.push(server);
    const { done, text } = download(server.url, 'any', { attempts: 2 });
    expect((await failure(done)).code).toBe('unreachable');
    expect([server.turns(), await text()]).toEqual([3, 'four']);
  });

  test('a slow drip is waited for', async () => {
    const text = 'drop by drop';
    const server = await startRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n`);
      let sent = 0;
      const timer = setInterval(() => {
        socket.write(text.charAt(sent++));
        if (sent === text.length) clearInterval(timer);
      }, 100);
    });
    open.push(server);
    expect((await download(server.url).done).exchange).toMatchObject({ attempts: 1, bytes: text.length });
  });
});

describe.concurrent('a content coding that nobody asked for', () => {
  test.each([
    ['gzip', gzipSync(FIRST)],
    ['deflate', deflateSync(FIRST)],
    ['br', brotliCompressSync(FIRST)],
  ])('%s is undone', async (coding, body) => {
    const server = await serve({ headers: { 'content-encoding': coding }, body });
    const { done, seen, text } = download(server.url);
    expect((await done).exchange).toMatchObject({ bytes: 20, sha256: sha256(FIRST) });
    expect([await text(), seen.text]).toEqual([FIRST, FIRST]);
    expect(server.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  test('another is refused with its name', async () => {
    const server = await serve({ headers: { 'content-encoding': 'zstd' }, body: FIRST });
    expect((await failure(download(server.url).done)).message).toContain('Content-Encoding "zstd"');
    expect(server.requests).toHaveLength(1);
  });
});

describe.concurrent('the size of a download', () => {
  const cases: [string, Reply][] = [
    ['that is stated', { body: 'x'.repeat(1001) }],
    ['that comes out of gzip', { body: gzipSync('x'.repeat(1001)), headers: { 'content-encoding': 'gzip' } }],
  ];
  test.each(cases)('%s is limited, and the connection ended', async (_words, reply) => {
    const server = await serve(reply);
    const error = await failure(
      download(server.url, 'any', { maxBytes: { ...DEFAULT_TRANSPORT.maxBytes, download: 1000 } }).done,
    );
    expect(error).toMatchObject({ code: 'service', message: expect.stringContaining('more than 1000 bytes') });
    expect(error.nextStep).toContain('source.limits');
    expect(server.requests).toHaveLength(1);
  });

  test('that is not stated is limited, however long it is', async () => {
    const server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(`3e8\r\n${'x'.repeat(1000)}\r\n`));
      };
      socket.on('drain', more);
      more();
    });
    open.push(server);
    const error = await failure(
      download(server.url, 'any', { maxBytes: { ...DEFAULT_TRANSPORT.maxBytes, download: 10_000 } }).done,
    );
    expect(error).toMatchObject({ code: 'service', message: expect.stringContaining('more than 10000 bytes') });
    expect(server.turns()).toBe(1);
  });

  test('is that of all parts', async () => {
    const server = await serve(cut(), rest());
    expect(
      (await failure(download(server.url, 'any', { maxBytes: { ...DEFAULT_TRANSPORT.maxBytes, download: 19 } }).done))
        .code,
    ).toBe('service');
    const enough = await serve(cut(), rest());
    await download(enough.url, 'any', { maxBytes: { ...DEFAULT_TRANSPORT.maxBytes, download: 20 } }).done;
    expect(enough.requests).toHaveLength(2);
  });
});

describe.concurrent('what a download must be', () => {
  const html = { 'content-type': 'text/html; charset=utf-8' };
  const page = '<!doctype html><title>Sign in</title>';
  const REFUSED: [string, Accepts, Reply, RegExp][] = [
    [
      'HTML for JSON',
      'json',
      { headers: html, body: page },
      /answered 200 with text\/html.*but it is not JSON: "<!doctype/,
    ],
    ['HTML for a PDF', 'pdf', { headers: html, body: page }, /not a PDF: "<!doctype/],
    ['HTML by its name alone', 'json', { headers: html, body: '{}' }, /with text\/html.*not JSON/],
    ['HTML by its content alone', 'json', { body: page }, /without a content type, but it is not JSON/],
    ['text for JSON', 'json', { body: '   "text"' }, /not JSON/],
    ['blanks for JSON', 'json', { body: ' \n ' }, /not JSON/],
    ['nothing for JSON', 'json', {}, /it is empty/],
    ['nothing at all', 'any', {}, /it is empty/],
    ['a PDF that begins too late', 'pdf', { body: `${'x'.repeat(1020)}%PDF-1.7` }, /not a PDF/],
    ['a PDF without its beginning', 'pdf', { body: 'PDF-1.7' }, /not a PDF/],
    ['no content', 'any', { status: 204 }, /answered 204 .*not valid for a download/],
    ['a part that nobody asked for', 'any', { ...rest(), status: 206 }, /answered 206 .*not the requested part/],
    ['the key', 'pdf', { body: `${'x'.repeat(195)}${API_KEY}` }, /not a PDF/],
  ];
  test.each(REFUSED)('%s is refused, and kept', async (_words, accepts, reply, message) => {
    const server = await serve(reply);
    const { done, text } = download(server.url, accepts, { attempts: 1 });
    const error = await failure(done);
    expect(error).toMatchObject({ code: 'service', message: expect.stringMatching(message) });
    expect(error.message).toContain(server.url);
    expect(error.message).not.toContain(API_KEY.slice(0, 5));
    if ((reply.status ?? 200) === 200) expect(await text()).toBe(reply.body ?? '');
  });

  test.each(REFUSED.filter(([, , { status = 200 }]) => status !== 206))(
    '%s is not asked for again',
    async (_w, accepts, reply) => {
      const server = await serve(reply, { body: '{"%PDF-": 1}' });
      await failure(download(server.url, accepts).done);
      expect(server.requests).toHaveLength(1);
    },
  );

  const TAKEN: [Accepts, string, Record<string, string>?][] = [
    ['json', '{}'],
    ['json', '\ufeff \r\n\t[1]'],
    ['pdf', `${'x'.repeat(1019)}%PDF-1.7`],
    ['pdf', '%PDF-2.0', { 'content-type': 'application/json' }],
    ['any', page, html],
  ];
  test.each(TAKEN)('%s: %.30j is taken', async (accepts, body, headers = {}) => {
    const server = await serve({ body, headers });
    expect((await download(server.url, accepts).done).exchange.bytes).toBe(Buffer.byteLength(body));
    expect(server.requests[0]?.headers.accept).toMatch(
      { json: /^application\/json/, pdf: /^application\/pdf/, any: /^\*/ }[accepts],
    );
  });
});

describe.concurrent('what is not the service’s fault', () => {
  test('is neither blamed on it nor asked for again', async () => {
    const server = await serve({ body: 'x' });
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const transport = connectTo(server.url);
    open.push(transport);
    const observer = { restart: () => {}, chunk: () => Promise.reject(full) };
    const call = { method: 'GET', url: server.url, repeatable: true } as const;
    expect(await failure(transport.download(call, join(folder, 'full'), observer))).toBe(full);
    expect(
      (await failure(transport.download(call, join(folder, 'absent/x'), observer))) as NodeJS.ErrnoException,
    ).toMatchObject({ code: 'ENOENT' });
    expect(server.requests).toHaveLength(2);
  });

  test('a file is for this user alone, and none is made without an answer', async () => {
    const server = await serve({ body: 'x' }, { status: 404 });
    const made = download(server.url);
    await made.done;
    expect((await stat(made.file)).mode & 0o777).toBe(0o600);
    const none = download(server.url);
    await failure(none.done);
    await expect(stat(none.file)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('what an attempt brought is not given up for one that brings nothing', async () => {
  const server = await serve(cut({}), { body: 'x', end: 'cut' });
  const { done, seen, text } = download(server.url);
  await expect(done).rejects.toMatchObject({ code: 'unreachable' });
  expect(server.requests.length).toBeGreaterThan(1);
  expect([await text(), seen]).toEqual(['0123456789', { restarts: 1, text: '0123456789' }]);
});
