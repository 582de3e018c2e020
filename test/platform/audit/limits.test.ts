import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/platform/accounts/key.ts';
import { createServer } from '../../../src/platform/http/server.ts';
import { entry, type Service, startService } from '../service.ts';

describe('what one request may bring', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  const post = async (path: string, body: unknown) => {
    const { status, body: answer } = await service.call('POST', path, body);
    return status < 400 ? status : [status, answer.code];
  };
  const one = (metadata: unknown) => post('/entries/', entry('s', 1, { metadata }));
  const batch = (metadata: unknown, count = 1) =>
    post('/entries/batch', { entries: Array(count).fill(entry('s', 1, { metadata })) });
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 1]));
  const nested = (depth: number): unknown =>
    depth === 0 ? 1 : depth % 2 === 0 ? [nested(depth - 1)] : { a: nested(depth - 1) };
  const note = (bytes: number) => ({ note: 'x'.repeat(bytes - '{"note":""}'.length) });
  const invalid = [422, 'invalid_request'];
  const large = [413, 'too_large'];

  test.each<[string, unknown, unknown]>([
    ['10,000 members', members(10_000), 201],
    ['10,001 members', members(10_001), invalid],
    ['10,001 members in objects of one', Array.from({ length: 10_000 }, () => ({ a: 1 })), invalid],
    ['127 levels', nested(127), 201],
    ['129 levels', nested(129), invalid],
    ['256 KiB', note(2 ** 18), 201],
    ['256 KiB and a byte', note(2 ** 18 + 1), invalid],
    ['256 KiB of characters, and so more bytes', { note: 'ü'.repeat(2 ** 17) }, invalid],
    ['140,000 zeros', { list: Array(140_000).fill(0) }, invalid],
    ['numbers that are longer in the form of RFC 8785', `{"list":[${Array(20_000).fill('1e20').join()}]}`, invalid],
  ])('metadata of %s', async (_what, given, expected) => {
    const metadata = Array.isArray(given) ? { list: given } : given;
    if (typeof metadata === 'string') {
      const body = JSON.stringify(entry('s', 1, { metadata: 'HERE' })).replace('"HERE"', metadata);
      expect([await post('/entries/', body), await post('/entries/batch', `{"entries":[${body}]}`)]).toEqual([
        expected,
        expected,
      ]);
    } else {
      expect([await one(metadata), await batch(metadata)]).toEqual([expected, expected]);
    }
  });

  test.each([1, 999])('of a batch, entry %i is named', async (at) => {
    const entries = Array.from({ length: 1000 }, (_, index) =>
      entry('named', index, { metadata: { note: 'x'.repeat(300) } }),
    );
    entries[at] = entry('named', at, { metadata: nested(129) });
    const { body } = await service.call('POST', '/entries/batch', { entries });
    expect(body.detail).toBe(`body.entries.${at}.metadata: is nested more than 128 levels deep`);
    expect((await service.call('GET', '/streams/named')).status).toBe(404);
  });

  test('a batch of 1,000 entries of 8 KB is recorded, and each of 8.5 KB is too large', async () => {
    expect(await batch(note(8000), 1000)).toBe(201);
    expect(await batch(note(8500), 1000)).toEqual(large);
  });

  test('one entry above 1 MiB, and more than 250,000 members are too large', async () => {
    expect(await one(note(2 ** 20))).toEqual(large);
    expect(await batch(members(26), 1000)).toBe(201);
    expect(await batch(Array.from({ length: 26_000 }, () => members(10)))).toEqual(large);
  });

  test('what is too large is refused before it was sent', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const head = ['Host: x', `Authorization: Bearer ${service.apiKey}`, 'Content-Type: application/json'];
    socket.write(`POST /audit/entries/ HTTP/1.1\r\n${head.join('\r\n')}\r\nContent-Length: ${2 ** 20 + 1}\r\n\r\n{`);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 [\s\S]*"code":"too_large"/);
  });

  test('a problem names 20 fields at most', async () => {
    const { text: many, body } = await service.call('POST', '/entries/', {
      ...entry('s', 1),
      ...Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`${'x'.repeat(500)}${at}`, 1])),
    });
    expect(body.detail).toMatch(/^body: unknown: "x{100}"(, "x{100}"){19} and 980 more$/);
    expect(many.length).toBeLessThan(6000);
    const entries = Array.from({ length: 1000 }, () => ({}));
    expect((await service.call('POST', '/entries/batch', { entries })).body.errors).toHaveLength(20);
  });

  test.each([
    ['after_sequence=', 'query.after_sequence'],
    ['after_sequence=-1', 'query.after_sequence'],
    ['after_sequence=99999999999999999', 'query.after_sequence'],
    ['limit=0x10', 'query.limit'],
    ['limit=1e1', 'query.limit'],
    ['limit=', 'query.limit'],
    ['limit=5&limit=6', 'query.limit'],
    ['actor=a%00', 'query.actor'],
  ])('/entries/?%s is refused', async (query, field) => {
    const { status, body } = await service.call('GET', `/entries/?${query}`);
    expect([status, body.code, body.errors[0].field]).toEqual([422, 'invalid_request', field]);
  });

  test.each(['stream_id', 'actor', 'action', 'resource_type', 'resource_id', 'idempotency_key', 'occurred_at'])(
    'U+0000 in %s is refused',
    async (field) => {
      const { status, body } = await service.call('POST', '/entries/', entry('s', 1, { [field]: 'a\0' }));
      expect([status, body.errors[0].field]).toEqual([422, `body.${field}`]);
    },
  );

  test('a stream id has 1,024 characters and 2,048 bytes at most', async () => {
    const append = (id: string) => post('/entries/', entry(id, 1));
    expect([await append('ü'.repeat(1024)), await append('…'.repeat(682))]).toEqual([201, 201]);
    expect([await append('x'.repeat(1025)), await append('…'.repeat(683))]).toEqual([invalid, invalid]);
  });

  test.each([
    ['PUT', '/entries/', 'GET, HEAD, POST'],
    ['DELETE', '/streams/a%2Fb', 'GET, HEAD'],
    ['GET', '/entries/batch', 'POST'],
    ['PATCH', '//keys', 'GET, HEAD, POST'],
    ['OPTIONS', '/evidence/x/pdf/', 'GET, HEAD'],
    ['PROPFIND', '/stats', 'GET, HEAD'],
  ])('%s %s is answered with what is allowed', async (method, path, allowed) => {
    const { status, headers, body } = await service.call(method, path);
    expect([status, headers.get('allow'), body.code]).toEqual([405, allowed, 'method_not_allowed']);
  });

  test('a body with a Content-Encoding is refused', async () => {
    const { status, headers, body } = await service.call('POST', '/entries/', entry('s', 1), {
      'content-encoding': 'gzip',
    });
    expect([status, headers.get('accept-encoding'), body.code]).toEqual([415, 'identity', 'unsupported_encoding']);
    const identity = { 'content-encoding': 'identity' };
    expect((await service.call('POST', '/entries/', entry('s', 1), identity)).status).toBe(201);
  });

  test.each(['/stats/', '/openapi.json', '/nowhere'])('nothing keeps the answer of %s', async (path) => {
    expect((await service.call('GET', path)).headers.get('cache-control')).toBe('no-store');
  });
});

describe('how often somebody may ask', () => {
  let service: Service;
  afterEach(() => service.close());

  test('a key, until the minute is over', async () => {
    service = await startService({ rateLimits: { requestsPerMinute: 3, refusalsPerMinute: 100 } });
    const other = (await service.call('POST', '//keys/', { name: 'other', scopes: ['audit:read'] })).body.api_key;
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await service.call('GET', '/stats/'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
    const [first, , last] = answers;
    expect(first?.headers.get('ratelimit-policy')).toBe('"requests";q=3;w=60');
    expect(first?.headers.get('ratelimit')).toMatch(/^"requests";r=1;t=\d+$/);
    const seconds = Number(last?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(last?.body).toMatchObject({ code: 'too_many_requests', status: 429 });
    const asOther = { authorization: `Bearer ${other}` };
    expect((await service.call('GET', '/stats/', undefined, asOther)).status).toBe(200);
  });

  test('an address without a good key; who has one there is answered', async () => {
    service = await startService({ rateLimits: { requestsPerMinute: 100, refusalsPerMinute: 3 } });
    const statuses = [];
    for (const authorization of ['', `Bearer ${createKey().text}`, 'Bearer x', 'Bearer y', ''])
      statuses.push((await service.call('GET', '/stats/', undefined, { authorization })).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await service.call('GET', '/stats/')).status).toBe(200);
  });
});

describe('what never becomes a request', () => {
  let server: FastifyInstance;
  beforeAll(async () => {
    server = createServer({
      logLevel: 'silent',
      authenticate: () => Promise.reject(new Error('nobody is asked')),
      rateLimits: { requestsPerMinute: 1, refusalsPerMinute: 1 },
      clock: () => new Date(),
      requestTimeoutMs: 200,
    });
    server.get('/', { config: { public: true } }, () => ({ fine: true }));
    await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.close());

  const send = (bytes: string) => {
    const socket = connectTo(server);
    socket.write(bytes);
    return text(socket);
  };

  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400, 'bad_request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'bad_request',
    ],
    ['long headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(2 ** 17)}\r\n\r\n`, 431, 'headers_too_large'],
    ['half a request', 'GET / HTTP/1.1\r\nHost: x\r\n', 408, 'request_timeout'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n', 400, 'bad_request'],
    ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'bad_request'],
  ])('%s', async (_what, bytes, status, code) => {
    const [head = '', body = ''] = (await send(bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/^content-type: application\/problem\+json/im);
    expect(JSON.parse(body)).toMatchObject({ status, code, request_id: expect.any(String) });
  });

  test('HTTP/1.0 has no Host header', async () => {
    expect(await send('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
  });
});

function connectTo(server: FastifyInstance) {
  return connect((server.server.address() as AddressInfo).port, '127.0.0.1');
}

test('a process that ends says when to ask again', async () => {
  const server = createServer({
    logLevel: 'silent',
    authenticate: () => Promise.reject(new Error('nobody is asked')),
    rateLimits: { requestsPerMinute: 1, refusalsPerMinute: 1 },
    clock: () => new Date(),
  });
  const { promise: closing, resolve } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  server.get('/slow', { config: { public: true } }, async () => {
    ask();
    await closing;
    return { fine: true };
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const socket = connectTo(server);
  const said = text(socket);
  const request = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';
  socket.write(request);
  await asked;
  const closed = server.close();
  server.server.once('request', () => resolve());
  socket.write(request);
  const answers = (await said).split('HTTP/1.1 ');
  await closed;
  expect(answers[1]).toMatch(/^200 /);
  expect(answers[2]).toMatch(/^503 [\s\S]*retry-after: 5\r\n[\s\S]*"code":"closing"/);
});
