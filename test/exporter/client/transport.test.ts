import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import type { Call } from '../../../src/exporter/client/call.ts';
import { DEFAULT_TRANSPORT, type TransportOptions } from '../../../src/exporter/client/options.ts';
import { readJsonBody } from '../../../src/exporter/client/page-reader.ts';
import { Transport } from '../../../src/exporter/client/transport.ts';
import { type FaultServer, json, type Reply, startFaultServer, unusedUrl } from '../../support/fault-server.ts';

const API_KEY = 'sk_live/0123+secret=';
const open: { close(): Promise<void> }[] = [];

afterAll(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serve(...replies: Parameters<typeof startFaultServer>): Promise<FaultServer> {
  const server = await startFaultServer(...replies);
  open.push(server);
  return server;
}

/** Creates a transport for each call, to the call's origin. */
function transport(more: Partial<TransportOptions> = {}) {
  const connect = (url: string) => {
    const made = new Transport({
      ...DEFAULT_TRANSPORT,
      origin: new URL(url).origin,
      apiKey: API_KEY,
      userAgent: 'test/1',
      signal: new AbortController().signal,
      ...more,
    });
    open.push(made);
    return made;
  };
  return { json: (call: Call) => connect(call.url).json(call), connect };
}

const get = (url: string) => ({ method: 'GET', url, repeatable: true }) as const;
const post = (url: string) => ({ method: 'POST', url, body: { a: 1 }, repeatable: false }) as const;
const SHORT = { timeouts: { ...DEFAULT_TRANSPORT.timeouts, connect: 1000, headers: 300, idle: 300 }, attempts: 2 };

const JSON_TYPE = { 'content-type': 'application/json' };

async function* inPieces(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 30_000) yield Buffer.from(text.slice(at, at + 30_000));
}

/** Returns the error of a failing call. */
async function failure(call: Promise<unknown>): Promise<Error & { code?: string; nextStep?: string }> {
  try {
    await call;
  } catch (error) {
    return error as Error;
  }
  throw new Error('the call succeeded');
}

test('an exchange states what was asked, when, how often, and the digest of what came', async () => {
  const body = '{"a": "ü"}';
  const headers = {
    'content-type': 'application/json',
    'x-request-id': 'req-1',
    date: 'Sun, 01 Nov 2026 00:00:00 GMT',
  };
  const server = await serve({ status: 500 }, { headers, body });
  const before = new Date().toISOString();
  const { value, exchange } = await transport().json({ ...get(`${server.url}/a%20b?c=d`), headers: { 'x-more': '1' } });
  expect(value).toEqual({ a: 'ü' });
  expect(exchange).toEqual({
    method: 'GET',
    path: '/a%20b?c=d',
    requested_at: expect.any(String),
    status: 200,
    date: headers.date,
    request_id: 'req-1',
    attempts: 2,
    bytes: Buffer.byteLength(body),
    sha256: createHash('sha256').update(body).digest('hex'),
  });
  expect(exchange.requested_at >= before && exchange.requested_at <= new Date().toISOString()).toBe(true);
  for (const { headers: sent } of server.requests)
    expect(sent).toMatchObject({ authorization: `Bearer ${API_KEY}`, 'user-agent': 'test/1', 'x-more': '1' });
});

test('a body is sent as JSON, the same at every attempt', async () => {
  const server = await serve({ status: 503 }, json({}));
  await transport().json({ ...post(server.url), repeatable: true });
  expect(server.requests.map(({ body, headers }) => [body, headers['content-type']])).toEqual([
    ['{"a":1}', 'application/json'],
    ['{"a":1}', 'application/json'],
  ]);
});

describe.concurrent('pages', () => {
  const LONG = JSON.stringify({ text: 'ü'.repeat(100_000) });
  const pageOf = (text: string) => json({ text });
  const read = (body: Uint8Array) => readJsonBody(body);

  const LONGER = JSON.stringify({ text: 'x'.repeat(9 * 2 ** 20) });
  const stated = { ...JSON_TYPE, 'content-length': String(Buffer.byteLength(LONG)) };

  test.each<[string, Reply, string]>([
    ['of a stated length', { headers: stated, body: LONG }, LONG],
    ['of no stated length', { headers: JSON_TYPE, body: inPieces(LONG) }, LONG],
    ['that are encoded', { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzipSync(LONG) }, LONG],
    ['longer than memory is kept for', { headers: JSON_TYPE, body: LONGER }, LONGER],
  ])('%s are read whole', async (_words, reply, text) => {
    const server = await serve(reply);
    const seen: string[] = [];
    await transport()
      .connect(server.url)
      .page(get(server.url), (body) => {
        seen.push(sha256(body));
        return readJsonBody(body);
      });
    expect(seen).toEqual([sha256(text)]);
  });

  test('asked for at once do not get into each other', async () => {
    const server = await serve(({ path }) => pageOf(path.repeat(2000)));
    const pages = transport().connect(server.url);
    for (let round = 0; round < 3; round++) {
      const paths = ['/a', '/bb', '/ccc', '/d'];
      const answers = await Promise.all(paths.map((path) => pages.page(get(`${server.url}${path}`), read)));
      expect(answers.map(({ value }) => value)).toEqual(paths.map((path) => ({ text: path.repeat(2000) })));
    }
  });

  test('one after the other are received in the same memory', async () => {
    const server = await serve(pageOf('one, which is longer'), pageOf('two'));
    const pages = transport().connect(server.url);
    const seen = new Set<ArrayBufferLike>();
    for (const text of ['one, which is longer', 'two']) {
      const { value } = await pages.page(get(server.url), (body) => {
        seen.add(body.buffer);
        return readJsonBody(body);
      });
      expect(value).toEqual({ text });
    }
    expect(seen.size).toBe(1);
  });

  test('that break are asked for again, and those that are no JSON are not', async () => {
    const server = await serve({ ...pageOf('x'.repeat(5000)), end: 'cut' }, pageOf('fine'));
    const { value } = await transport().connect(server.url).page(get(server.url), read);
    expect([value, server.requests.length]).toEqual([{ text: 'fine' }, 2]);
    const other = await serve(json({}, { body: '{' }));
    const error = await failure(transport().connect(other.url).page(get(other.url), read));
    expect([error.message.includes('it is not JSON'), other.requests.length]).toEqual([true, 1]);
  });
});

describe.concurrent('which answers are asked for again', () => {
  const AGAIN = [408, 425, 429, 500, 502, 503, 504, 507, 520, 599];
  const NOT_AGAIN = [300, 304, 305, 400, 401, 403, 404, 409, 410, 413, 418, 422, 501, 505];

  test.each(AGAIN)('%i, then fine', async (status) => {
    const server = await serve({ status }, json({ fine: true }));
    const { value, exchange } = await transport().json(get(server.url));
    expect([value, exchange.attempts]).toEqual([{ fine: true }, 2]);
  });

  test.each(NOT_AGAIN)('%i is final', async (status) => {
    const server = await serve({ status, headers: { location: '/elsewhere' } }, json({ fine: true }));
    const error = await failure(transport().json(get(server.url)));
    expect(error.message).toContain(`answered ${status}`);
    expect(server.requests).toHaveLength(1);
  });

  test('a POST that may have arrived is not repeated', async () => {
    const server = await serve({ status: 503 }, json({}));
    expect((await failure(transport().json(post(server.url)))).code).toBe('service');
    const reset = await serve({ end: 'reset' }, json({}));
    expect((await failure(transport().json(post(reset.url)))).code).toBe('unreachable');
    expect([server.requests.length, reset.requests.length]).toEqual([1, 1]);
  });

  test('a POST that was turned away with 429 is', async () => {
    const server = await serve({ status: 429 }, json({}));
    await transport().json(post(server.url));
    expect(server.requests).toHaveLength(2);
  });
});

describe.concurrent('Retry-After', () => {
  test('in seconds is waited for', async () => {
    const server = await serve({ status: 429, headers: { 'retry-after': '1' } }, json({}));
    await transport().json(get(server.url));
    const [first, second] = server.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('as a date is waited for', async () => {
    const at = Math.ceil(Date.now() / 1000) * 1000 + 1000;
    const server = await serve({ status: 503, headers: { 'retry-after': new Date(at).toUTCString() } }, json({}));
    await transport().json(get(server.url));
    expect(Date.now()).toBeGreaterThanOrEqual(at - 5);
    expect(server.requests).toHaveLength(2);
  });

  test.each(['0', 'Thu, 01 Jan 1970 00:00:00 GMT', 'soon', ''])('"%s" asks for no wait', async (value) => {
    const server = await serve({ status: 503, headers: { 'retry-after': value } }, json({}));
    await transport().json(get(server.url));
    expect(server.requests).toHaveLength(2);
  });

  test('a wait ends when the work is to be ended', async () => {
    const controller = new AbortController();
    const server = await serve(() => {
      setImmediate(() => controller.abort(new Error('stop')));
      return { status: 503, headers: { 'retry-after': '300' } };
    });
    await failure(transport({ signal: controller.signal }).json(get(server.url)));
    expect(server.requests).toHaveLength(1);
  });
});

describe.concurrent('what the service says of a failure is in the error', () => {
  const problem = { 'content-type': 'application/problem+json' };
  const plain = { 'content-type': 'text/plain; charset=utf-8' };
  const cases: [string, Reply, string, RegExp][] = [
    [
      'problem details',
      json(
        { title: 'Gone fishing', status: 503, code: 'closed', detail: 'back soon' },
        { status: 503, headers: problem },
      ),
      'service',
      /answered 503: closed · Gone fishing · back soon/,
    ],
    [
      'detail as text',
      json({ detail: 'Not authenticated' }, { status: 401 }),
      'refused',
      /answered 401: Not authenticated/,
    ],
    [
      'detail as a list',
      json(
        { detail: [{ loc: ['body', 'from'], msg: 'no date' }, { loc: ['query', 0], msg: 'x' }, 'y'] },
        { status: 422 },
      ),
      'service',
      /answered 422: body\.from: no date; query\.0: x; "y"/,
    ],
    ['error as text', json({ error: 'no such key' }, { status: 403 }), 'refused', /answered 403: no such key/],
    ['error as an object', json({ error: { code: 7 } }, { status: 400 }), 'service', /\{"code":7\}/],
    ['plain text', { status: 503, headers: plain, body: 'overloaded\n' }, 'service', /answered 503: "overloaded"/],
    [
      'HTML is left out',
      { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' },
      'service',
      /answered 502$/,
    ],
    ['JSON that is not', { status: 500, headers: problem, body: '{oops' }, 'service', /answered 500: "\{oops"/],
    ['JSON that is no object', json('no', { status: 500 }), 'service', /answered 500: "\\"no\\""/],
    ['nothing', { status: 404 }, 'not-found', /answered 404$/],
    ['410', { status: 410 }, 'not-found', /answered 410/],
    ['a very long one', json({ detail: 'x'.repeat(100_000) }, { status: 500 }), 'service', /^.{200,700}$/],
  ];
  test.each(cases)('%s', async (_words, reply, code, message) => {
    const server = await serve(reply);
    const error = await failure(transport({ attempts: 1 }).json(get(`${server.url}/streams/`)));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error.message).toContain(`GET ${server.url}/streams/`);
  });

  test('the last one, after every attempt was used', async () => {
    const server = await serve(...[1, 2, 3].map((turn) => json({ detail: `turn ${turn}` }, { status: 503 })));
    expect((await failure(transport({ attempts: 3 }).json(get(server.url)))).message).toContain('turn 3');
    expect(server.requests).toHaveLength(3);
  });

  test.each([
    [401, /EVIDENCE_API_KEY/],
    [403, /right to read streams/],
  ])('%i says what to do about the key', async (status, words) => {
    const server = await serve({ status });
    expect((await failure(transport().json(get(server.url)))).nextStep).toMatch(words);
  });
});

describe.concurrent('connections that break', () => {
  test('nothing listens', async () => {
    const error = await failure(transport({ attempts: 2 }).json(get(await unusedUrl())));
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('ECONNREFUSED') });
  });

  test('no such host', async () => {
    const error = await failure(transport({ attempts: 1 }).json(get('http://nowhere.invalid/')));
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) });
  });

  const ENDS = ['cut', 'stall', 'silence', 'reset'] as const;

  test.each(ENDS)('%s once, then fine', async (end) => {
    const server = await serve({ ...json({ a: 1 }), end }, json({ a: 2 }));
    const { value, exchange } = await transport(SHORT).json(get(server.url));
    expect([value, exchange.attempts]).toEqual([{ a: 2 }, 2]);
  });

  test.each(ENDS)('%s for ever', async (end) => {
    const server = await serve({ ...json({ a: 1 }), end });
    expect((await failure(transport(SHORT).json(get(server.url)))).code).toBe('unreachable');
    expect(server.requests).toHaveLength(2);
  });

  test('an answer that is on its way ends when the work is to be ended', async () => {
    const controller = new AbortController();
    const server = await serve(() => {
      setImmediate(() => controller.abort(new Error('stop')));
      return { end: 'silence' };
    });
    expect((await failure(transport({ signal: controller.signal }).json(get(server.url)))).message).toBe('stop');
    expect(server.requests).toHaveLength(1);
  });
});

describe.concurrent('a success that is none', () => {
  const cases: [string, Reply, RegExp][] = [
    [
      'HTML',
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html>\n<title>Sign in</title>' },
      /answered 200 with text\/html, but it is not JSON: "<!doctype html> <title>Sign in/,
    ],
    ['nothing', { headers: { 'content-type': 'application/json' } }, /but it is not JSON: an empty body/],
    ['no content type', { body: 'x' }, /without a content type/],
    ['JSON with something after', { body: '{} {}' }, /not JSON/],
    ['JSON that is cut off', { body: '{"a": [1, 2' }, /not JSON: "\{\\"a\\"/],
    ['JSON nested too deep', { body: `${'['.repeat(257)}${']'.repeat(257)}` }, /nested deeper than 256 levels: "\[\[/],
    ['a bomb of brackets', { body: '['.repeat(15_000_000) }, /nested deeper than 256 levels/],
    ['invalid UTF-8', { body: Uint8Array.of(0x22, 0xff, 0x22) }, /not JSON/],
    ['much of something else', { body: 'x'.repeat(10_000) }, /^.{100,400}$/],
  ];
  test.each(cases)('%s', async (_words, reply, message) => {
    const server = await serve(reply);
    const error = await failure(transport().json(get(server.url)));
    expect(error).toMatchObject({ code: 'service', message: expect.stringMatching(message) });
    expect(error.nextStep).toContain('source.audit_url');
    expect(server.requests).toHaveLength(1);
  });
});

test('JSON may begin with a byte order mark, and be nested as deep as the limit', async () => {
  const server = await serve({ body: '\ufeff{"a":1}' }, { body: `${'['.repeat(256)}${']'.repeat(256)}` });
  expect((await transport().json(get(server.url))).value).toEqual({ a: 1 });
  expect(JSON.stringify((await transport().json(get(server.url))).value)).toBe(`${'['.repeat(256)}${']'.repeat(256)}`);
});

describe.concurrent('content codings of JSON', () => {
  const text = JSON.stringify({ a: 'x'.repeat(5000) });
  const coded = (coding: string, body: Uint8Array): Reply => ({ headers: { 'content-encoding': coding }, body });

  test.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('%s is undone, and counted as it is without', async (coding, body) => {
    const server = await serve(coded(coding, body));
    const { value, exchange } = await transport().json(get(server.url));
    expect(JSON.stringify(value)).toBe(text);
    expect(exchange).toMatchObject({ bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') });
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip, br');
  });

  test.each(['zstd', 'gzip, br', 'constructor'])('%s is refused with its name', async (coding) => {
    const server = await serve(coded(coding, Buffer.from(text)));
    const error = await failure(transport().json(get(server.url)));
    expect(error).toMatchObject({ code: 'service', message: expect.stringContaining(`Content-Encoding "${coding}"`) });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['cut off', gzipSync(text).subarray(0, 30)],
    ['damaged', Buffer.from(text)],
  ])('what is %s is asked for again', async (_words, body) => {
    const server = await serve(coded('gzip', body), json({ a: 1 }));
    expect((await transport().json(get(server.url))).value).toEqual({ a: 1 });
    expect(server.requests).toHaveLength(2);
  });

  test('the limit is of what comes out of it', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    const server = await serve(coded('gzip', bomb));
    const error = await failure(
      transport({ maxBytes: { ...DEFAULT_TRANSPORT.maxBytes, json: 1_000_000 } }).json(get(server.url)),
    );
    expect(error).toMatchObject({ code: 'service', message: expect.stringContaining('more than 1000000 bytes') });
    expect(server.requests).toHaveLength(1);
  });

  test('an error in gzip is read as well', async () => {
    const body = gzipSync(JSON.stringify({ detail: 'closed for lunch' }));
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
    const server = await serve({ status: 400, headers, body });
    expect((await failure(transport().json(get(server.url)))).message).toContain('closed for lunch');
  });
});

describe.concurrent('what else an answer tells', () => {
  test('the links, as sent', async () => {
    const link = '<https://x.example/?page=2>; rel="next", </>; rel=first';
    const server = await serve(json({}, { headers: { link } }), json({}));
    expect((await transport().json(get(server.url))).link).toBe(link);
    expect((await transport().json(get(server.url))).link).toBeNull();
  });

  test.each([
    [{ 'request-id': 'd' }, 'd'],
    [{ 'x-amzn-requestid': 'c', 'request-id': 'd' }, 'c'],
    [{ 'x-correlation-id': 'b', 'x-amzn-requestid': 'c' }, 'b'],
    [{ 'x-request-id': 'a', 'x-correlation-id': 'b' }, 'a'],
    [{}, null],
  ])('the id of the request in %j', async (headers, id) => {
    const server = await serve(json({}, { headers: headers as Record<string, string> }));
    expect((await transport().json(get(server.url))).exchange.request_id).toBe(id);
  });
});

describe.concurrent('not yet', () => {
  const poll = (url: string) => ({ ...get(url), notYet: new Set([202, 409, 503]) });
  const cases: [string, Reply, number | null][] = [
    ['202', json({ status: 'pending' }, { status: 202 }), null],
    ['409 with a wait', { status: 409, headers: { 'retry-after': '7' } }, 7000],
    ['a status that is retried otherwise', { status: 503, headers: { 'retry-after': '0' } }, 0],
  ];
  test.each(cases)('%s', async (_words, reply, retryAfterMs) => {
    const server = await serve(reply);
    const made = transport().connect(server.url);
    expect(await made.json(poll(server.url))).toEqual({ notYet: { retryAfterMs } });
    expect(await made.download(poll(server.url), '/nowhere/at/all', { restart: () => {}, chunk: () => {} })).toEqual({
      notYet: { retryAfterMs },
    });
    expect(server.requests).toHaveLength(2);
  });

  test('other answers are what they are', async () => {
    const server = await serve(json({ a: 1 }), { status: 404 });
    const made = transport().connect(server.url);
    expect(await made.json(poll(server.url))).toMatchObject({ value: { a: 1 } });
    expect((await failure(made.json(poll(server.url)))).code).toBe('not-found');
  });
});

describe.concurrent('the size of JSON', () => {
  test('up to the limit is taken, beyond it is refused at once', async () => {
    const server = await serve(json('x'.repeat(98)));
    expect(
      (await transport({ maxBytes: { ...DEFAULT_TRANSPORT.maxBytes, json: 100 } }).json(get(server.url))).exchange
        .bytes,
    ).toBe(100);
    const error = await failure(
      transport({ maxBytes: { ...DEFAULT_TRANSPORT.maxBytes, json: 99 } }).json(get(server.url)),
    );
    expect(error).toMatchObject({ code: 'service', message: expect.stringContaining('more than 99 bytes') });
    expect(server.requests).toHaveLength(2);
  });

  test('an answer that never ends is not read to its end', async () => {
    const server = await serve({ body: 'x'.repeat(1_000_000), end: 'stall' });
    expect(
      (await failure(transport({ maxBytes: { ...DEFAULT_TRANSPORT.maxBytes, json: 1000 } }).json(get(server.url))))
        .code,
    ).toBe('service');
  });
});

describe.concurrent('the API key stays out of errors, even where the service quotes it', () => {
  const escaped = JSON.stringify({ detail: `unknown key ${API_KEY}` }).replaceAll('/', '\\/');
  const unicode = JSON.stringify({ error: API_KEY }).replace('sk_', '\\u0073k_');
  const cases: [string, Reply][] = [
    ['as text', { status: 401, headers: { 'content-type': 'text/plain' }, body: `unknown key ${API_KEY}` }],
    ['as detail', json({ detail: `unknown key ${API_KEY}` }, { status: 401 })],
    ['escaped as JSON', { ...json({}, { status: 401 }), body: escaped }],
    ['escaped as Unicode', { ...json({}, { status: 401 }), body: unicode }],
    ['where the text is cut', json({ detail: `${'x'.repeat(495)}${API_KEY}` }, { status: 500 })],
    ['where the bytes are cut', { headers: { 'content-type': 'text/html' }, body: `${'x'.repeat(195)}${API_KEY}` }],
    ['in a page', { headers: { 'content-type': 'text/html' }, body: `<p>${API_KEY}` }],
    ['as content type', { headers: { 'content-type': `text/${API_KEY}` }, body: 'x' }],
    ['as content coding', { headers: { 'content-encoding': API_KEY }, body: 'x' }],
    ['never answered', { end: 'reset' }],
  ];
  test.each(cases)('%s', async (_words, reply) => {
    const server = await serve(reply);
    const { message, nextStep } = await failure(transport({ attempts: 1 }).json(get(server.url)));
    expect(`${message} ${nextStep}`).not.toContain(API_KEY.slice(0, 5));
  });
});
