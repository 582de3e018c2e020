import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/platform/accounts/key.ts';
import { call, entry, fill, type Service, startService } from '../service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  await fill(service, 's', 3);
});
afterAll(() => service.close());

const GETS = ['/entries/', '/streams/', '/streams/s', '/streams/s/checkpoints', '/evidence/x', '/stats/', '/nowhere'];

describe('authentication', () => {
  test.each([...GETS, '/evidence/x/json'])('GET %s needs a key', async (path) => {
    for (const authorization of [
      '',
      'Bearer',
      'Basic abc',
      `Bearer ${createKey().text}`,
      `Bearer ${service.apiKey}x`,
    ]) {
      const { status, headers, body } = await service.call('GET', path, undefined, { authorization });
      expect(status).toBe(401);
      expect(body.code).toBe('unauthenticated');
      expect(headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('a request without a key changes nothing', async () => {
    const before = (await service.call('GET', '/stats/')).text;
    const { status } = await service.call('POST', '/entries/', entry('s', 1), { authorization: '' });
    expect(status).toBe(401);
    expect((await service.call('GET', '/stats/')).text).toBe(before);
  });
});

describe('paths', () => {
  test.each(GETS.slice(0, 4).concat('/stats/'))(
    '%s answers with and without a slash, without a redirect',
    async (path) => {
      const bare = path.replace(/\/$/, '');
      const answers = await Promise.all([bare, `${bare}/`].map((form) => service.call('GET', form)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(answers[0]?.text).toBe(answers[1]?.text);
    },
  );

  test('POST /entries and /entries/ are the same', async () => {
    for (const path of ['/entries', '/entries/'])
      expect((await service.call('POST', path, entry('slashes', 1))).status).toBe(201);
  });

  test.each(['a/b', 'ü ~?#%', '%2F', 'x/', '日本', 'a+b&c=d', 'x'.repeat(1024), '…'.repeat(682)])(
    'a stream may be called %j',
    async (id) => {
      expect((await service.call('POST', '/entries/', entry(id, 1))).status).toBe(201);
      const { status, body } = await service.call('GET', `/streams/${encodeURIComponent(id)}`);
      expect(status).toBe(200);
      expect(body.stream_id).toBe(id);
    },
  );
});

test('every filter may be as long as what it filters', async () => {
  const long = '…'.repeat(1024);
  const stream = 'ü'.repeat(1024);
  const entryOf = { ...entry(stream, 1), actor: long, action: long, resource_type: long, resource_id: long };
  expect((await service.call('POST', '/entries/', entryOf)).status).toBe(201);
  const query = new URLSearchParams({
    stream_id: stream,
    actor: long,
    action: long,
    resource_type: long,
    resource_id: long,
  });
  expect((await service.call('GET', `/entries/?${query}`)).body.data).toHaveLength(1);
});

describe('failures are problem details', () => {
  const long = 'x'.repeat(1025);
  test.each<[string, string, string, unknown, number, string]>([
    ['an unknown path', 'GET', '/nowhere', undefined, 404, 'not_found'],
    ['a wrong method', 'DELETE', '/entries/', undefined, 405, 'method_not_allowed'],
    ['an unknown stream', 'GET', '/streams/none', undefined, 404, 'not_found'],
    ['verify of an unknown stream', 'POST', '/streams/none/verify', undefined, 404, 'not_found'],
    ['a checkpoint of an unknown stream', 'POST', '/streams/none/checkpoints', undefined, 404, 'not_found'],
    ['checkpoints of an unknown stream', 'GET', '/streams/none/checkpoints', undefined, 404, 'not_found'],
    ['an unknown package', 'GET', '/evidence/none/json', undefined, 404, 'not_found'],
    ['a package of an unknown stream', 'POST', '/evidence/generate', { stream_id: 'none' }, 404, 'not_found'],
    ['no JSON', 'POST', '/entries/', '{', 400, 'invalid_json'],
    ['an empty body', 'POST', '/entries/', '', 422, 'invalid_request'],
    ['a missing member', 'POST', '/entries/', { ...entry('s', 1), actor: undefined }, 422, 'invalid_request'],
    ['an empty member', 'POST', '/entries/', entry('s', 1, { action: '' }), 422, 'invalid_request'],
    ['a long member', 'POST', '/entries/', entry('s', 1, { resource_id: long }), 422, 'invalid_request'],
    ['an unknown member', 'POST', '/entries/', entry('s', 1, { sequence: 1 }), 422, 'invalid_request'],
    ['metadata that is a list', 'POST', '/entries/', entry('s', 1, { metadata: [] }), 422, 'invalid_request'],
    [
      'a time without seconds',
      'POST',
      '/entries/',
      entry('s', 1, { occurred_at: '2026-01-01T00:00Z' }),
      422,
      'invalid_request',
    ],
    [
      'a time without zone',
      'POST',
      '/entries/',
      entry('s', 1, { occurred_at: '2026-01-01T00:00:00' }),
      422,
      'invalid_request',
    ],
    ['a stream that URLs cannot name', 'POST', '/entries/', entry('..', 1), 422, 'invalid_request'],
    ['deep metadata', 'POST', '/entries/', entry('s', 1, { metadata: nested(129) }), 422, 'invalid_request'],
    ['an empty batch', 'POST', '/entries/batch', { entries: [] }, 422, 'invalid_request'],
    ['a batch of 1001', 'POST', '/entries/batch', { entries: Array(1001).fill(entry('s', 1)) }, 422, 'invalid_request'],
    ['a limit of 501', 'GET', '/entries/?limit=501', undefined, 422, 'invalid_request'],
    ['a limit of 0', 'GET', '/streams/?limit=0', undefined, 422, 'invalid_request'],
    ['an unknown filter', 'GET', '/entries/?actr=x', undefined, 422, 'invalid_request'],
    [
      'a period that ends first',
      'POST',
      '/evidence/generate',
      { stream_id: 's', from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' },
      422,
      'invalid_request',
    ],
    ['a made-up cursor', 'GET', '/entries/?cursor=abc', undefined, 422, 'invalid_cursor'],
    ['two equal names', 'POST', '/entries/', '{"stream_id":"s","stream_id":"t"}', 422, 'ambiguous_json'],
    ['an integer beyond doubles', 'POST', '/entries/', withMetadata('{"n":9007199254740993}'), 422, 'ambiguous_json'],
    ['a lone surrogate', 'POST', '/entries/', withMetadata('{"n":"\\ud800"}'), 422, 'ambiguous_json'],
  ])('%s', async (_name, method, path, body, status, code) => {
    const answer = await service.call(method, path, body, body === '' ? { 'content-type': 'application/json' } : {});
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.headers.get('x-request-id')).toBe(answer.body.request_id);
    expect(answer.body).toMatchObject({ status, code, title: expect.any(String), detail: expect.any(String) });
    expect(answer.status).toBe(status);
  });

  test('the field is named', async () => {
    const entries = [entry('s', 1), entry('s', 2, { actor: 7 })];
    const { body } = await service.call('POST', '/entries/batch', { entries });
    expect(body.detail).toMatch(/^body\.entries\.1\.actor: /);
    expect((await service.call('GET', '/entries/?limit=x')).body.errors[0].field).toBe('query.limit');
  });

  test.each([
    ['from=zzz', 'query.from: expected a time like 2026-01-31T00:00:00Z'],
    ['limit=501', 'query.limit: expected a number of at most 500'],
    ['limit=x', 'query.limit: expected a number'],
    ['actr=x', 'query: unknown: "actr"'],
  ])('what is wrong with ?%s is said in plain words', async (query, detail) => {
    expect((await service.call('GET', `/entries/?${query}`)).body.detail).toBe(detail);
  });

  test('nothing of what was refused was recorded', async () => {
    expect((await service.call('GET', '/streams/s')).body.entry_count).toBe(3);
  });

  test('another type than JSON is refused', async () => {
    const { status, body } = await service.call('POST', '/entries/', 'x', { 'content-type': 'text/plain' });
    expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('an id that is not UTF-8 is a problem with a request id', async () => {
    const { status, headers, body } = await service.call('GET', '/streams/%ff');
    expect(status).toBe(400);
    expect(headers.get('x-request-id')).toBe(body.request_id);
  });
});

describe('the OpenAPI document', () => {
  test('is public, says 3.1 and lists every path with its answers', async () => {
    const { status, body } = await call(service.url, 'none', 'GET', '/openapi.json', undefined, { authorization: '' });
    expect(status).toBe(200);
    expect(body.openapi).toMatch(/^3\.1/);
    expect(body.servers).toEqual([{ url: '/audit' }]);
    const operations = Object.entries<Record<string, { responses: Record<string, unknown> }>>(body.paths).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.sort()).toEqual(
      [
        'POST /entries/',
        'GET /entries/',
        'POST /entries/batch',
        'GET /streams/',
        'GET /streams/{stream_id}',
        'POST /streams/{stream_id}/verify',
        'GET /streams/{stream_id}/verifications',
        'GET /verifications/{verification_id}',
        'GET /streams/{stream_id}/checkpoints',
        'GET /streams/{stream_id}/packages',
        'POST /streams/{stream_id}/checkpoints',
        'POST /evidence/generate',
        'GET /evidence/{package_id}',
        'GET /evidence/{package_id}/json',
        'GET /evidence/{package_id}/pdf',
        'GET /evidence/{package_id}/summary',
        'GET /stats/',
        'GET /stats/activity',
      ].sort(),
    );
    const create = body.paths['/entries/'].post;
    expect(create.requestBody.content['application/json'].schema.required).toEqual(
      expect.arrayContaining(['stream_id', 'actor', 'action', 'resource_type', 'resource_id']),
    );
    expect(create.responses['201'].content['application/json'].schema.$ref).toBe('#/components/schemas/Entry');
  });

  test('has no reference that leads nowhere', async () => {
    const { body, text } = await service.call('GET', '/openapi.json');
    const references = [...text.matchAll(/"\$ref":"#([^"]*)"/g)].map((match) => match[1] ?? '');
    expect(references.length).toBeGreaterThan(5);
    for (const reference of references) {
      const target = reference
        .split('/')
        .slice(1)
        .reduce((at, name) => at?.[name], body);
      expect(target, reference).toBeTypeOf('object');
    }
  });
});

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { a: nested(depth - 1) };
}

function withMetadata(metadata: string): string {
  return JSON.stringify(entry('s', 1, { metadata: 'HERE' })).replace('"HERE"', metadata);
}
