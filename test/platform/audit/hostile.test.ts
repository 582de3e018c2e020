import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/platform/accounts/key.ts';
import { toCursor } from '../../../src/platform/http/cursor.ts';
import { entry, fill, listAll, SERVICES, type Service } from '../service.ts';

const TEXTS = ['stream_id', 'actor', 'action', 'resource_type', 'resource_id'];
const SQL = `'; DROP TABLE entries; --" OR 1=1 /* ? $1 :a`;

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const json = (metadata: string) => JSON.stringify(entry('s', 1, { metadata: 'HERE' })).replace('"HERE"', metadata);
const cursor = (...position: unknown[]) => Buffer.from(JSON.stringify(position)).toString('base64url');
const escaped = (name: string, text: string) => JSON.stringify(entry('s', 1, { [name]: 'HERE' })).replace('HERE', text);

type Row = readonly [what: string, method: string, path: string, body: unknown, status: number, code: string];

/** Requests that are refused with a problem and write nothing. */
const REFUSED: readonly Row[] = [
  ['a body above 1 MiB', 'POST', '/entries/', 'x'.repeat(2 ** 20 + 1), 413, 'too_large'],
  ['a batch above 8 MiB', 'POST', '/entries/batch', 'x'.repeat(2 ** 23 + 1), 413, 'too_large'],
  ['a body deeper than any reader goes', 'POST', '/entries/', '['.repeat(500_000), 400, 'invalid_json'],
  ['metadata of 300 levels', 'POST', '/entries/', json(JSON.stringify({ a: nested(300) })), 400, 'invalid_json'],
  ['metadata of 200 levels', 'POST', '/entries/', json(JSON.stringify({ a: nested(200) })), 422, 'invalid_request'],
  ['half a body', 'POST', '/entries/', JSON.stringify(entry('s', 1)).slice(0, -5), 400, 'invalid_json'],
  ['a body that is a list', 'POST', '/entries/', [entry('s', 1)], 422, 'invalid_request'],
  ['a body that is null', 'POST', '/entries/', 'null', 422, 'invalid_request'],
  ['entries that are an object', 'POST', '/entries/batch', { entries: { 0: entry('s', 1) } }, 422, 'invalid_request'],
  [
    'one bad entry of many',
    'POST',
    '/entries/batch',
    { entries: [entry('s', 1), { actor: 1 }] },
    422,
    'invalid_request',
  ],
  ['a number of 400 digits', 'POST', '/entries/', json(`{"n":${'9'.repeat(400)}}`), 422, 'ambiguous_json'],
  ['1e400', 'POST', '/entries/', json('{"n":1e400}'), 422, 'ambiguous_json'],
  ['a name twice', 'POST', '/entries/', json('{"a":1,"\\u0061":2}'), 422, 'ambiguous_json'],
  ['a lone surrogate as a name', 'POST', '/entries/', json('{"\\udc00":1}'), 422, 'ambiguous_json'],
  ...TEXTS.flatMap((name): Row[] => [
    [`U+0000 as ${name}`, 'POST', '/entries/', escaped(name, 'a\\u0000'), 422, 'invalid_request'],
    [`a lone surrogate as ${name}`, 'POST', '/entries/', escaped(name, '\\ud83d'), 422, 'ambiguous_json'],
    [`a number as ${name}`, 'POST', '/entries/', entry('s', 1, { [name]: 7 }), 422, 'invalid_request'],
    [`nothing as ${name}`, 'POST', '/entries/', entry('s', 1, { [name]: null }), 422, 'invalid_request'],
    [`a filter with U+0000 by ${name}`, 'GET', `/entries/?${name}=a%00`, undefined, 422, 'invalid_request'],
  ]),
  ['U+0000 in the title', 'POST', '/evidence/generate', { stream_id: 's', title: '\0' }, 422, 'invalid_request'],
  ['U+0000 in the id of what is packed', 'POST', '/evidence/generate', { stream_id: 's\0' }, 422, 'invalid_request'],
  ['a period of another kind', 'POST', '/evidence/generate', { stream_id: 's', from: 1 }, 422, 'invalid_request'],
  ['U+0000 in the path', 'POST', '/streams/s%00/verify', undefined, 422, 'invalid_request'],
  ['U+0000 in the id of a check', 'GET', '/verifications/%00', undefined, 422, 'invalid_request'],
  ['no UTF-8 in the path', 'POST', '/streams/%ff%fe/checkpoints', undefined, 400, 'bad_request'],
  ['a part of the path that is too long', 'GET', `/streams/${'x'.repeat(10_000)}`, undefined, 414, 'uri_too_long'],
  ['SQL as a stream', 'POST', `/streams/${encodeURIComponent(SQL)}/verify`, undefined, 404, 'not_found'],
  ['SQL as a package', 'GET', `/evidence/${encodeURIComponent(SQL)}/json`, undefined, 404, 'not_found'],
  ['SQL as a key', 'POST', `//keys/${encodeURIComponent(SQL)}/revoke`, undefined, 404, 'not_found'],
  [
    'SQL as a limit',
    'GET',
    `/entries/?limit=${encodeURIComponent('1; DROP TABLE entries')}`,
    undefined,
    422,
    'invalid_request',
  ],
  ['a path out of the packages', 'GET', '/evidence/..%2F..%2Fmaster.key/json', undefined, 404, 'not_found'],
  ['a limit beyond all numbers', 'GET', `/streams/?limit=${'9'.repeat(30)}`, undefined, 422, 'invalid_request'],
  ['a limit below 0', 'GET', '//keys/?limit=-5', undefined, 422, 'invalid_request'],
  [
    'a sequence that no number is',
    'GET',
    '/entries/?after_sequence=9007199254740993',
    undefined,
    422,
    'invalid_request',
  ],
  ...[
    ['of another list', toCursor('streams', ['s'])],
    ['with a text for a number', cursor('entries', 's', '1')],
    ['with U+0000', cursor('entries', 's\0', 1)],
    ['with a lone surrogate', Buffer.from('["entries","\\ud800",1]').toString('base64url')],
    ['with a fraction', cursor('entries', 's', 0.5)],
    ['with too much', cursor('entries', 's', 1, 1)],
    ['that is an object', Buffer.from('{"0":"entries"}').toString('base64url')],
    ['of 20 kB', 'A'.repeat(20_000)],
    ['with SQL', SQL],
  ].map(
    ([what = '', text = '']): Row => [
      `a cursor ${what}`,
      'GET',
      `/entries/?cursor=${encodeURIComponent(text)}`,
      undefined,
      422,
      'invalid_cursor',
    ],
  ),
];

describe.each(SERVICES)('on %s', (_name, start) => {
  let service: Service;
  let before: unknown;
  beforeAll(async () => {
    service = await start();
    await fill(service, 's', 3);
    before = await written();
  });
  afterAll(() => service.close());

  /** Reads everything that was written. */
  async function written(): Promise<unknown> {
    const stats = (await service.call('GET', '/stats/')).body;
    const keys = (await listAll(service, '//keys/')).map(({ key_id, revoked_at }) => [key_id, revoked_at]);
    return { stats, keys, entries: await listAll(service, '/entries/') };
  }

  const makeKey = async (more: object) =>
    (await service.call('POST', '//keys/', { name: 'x', scopes: ['audit:write'], ...more })).body;

  test.each(REFUSED)('%s is refused', async (_what, method, path, body, status, code) => {
    const answer = await service.call(method, path, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.text.length).toBeLessThan(6000);
    expect(await written()).toEqual(before);
  });

  test('keys that are not good, or not for this, write nothing', async () => {
    const revoked = await makeKey({});
    await service.call('POST', `//keys/${revoked.key_id}/revoke`);
    const expired = await makeKey({});
    await service.call('POST', `//keys/${expired.key_id}/rotate`, { overlap_seconds: 0 });
    const reader = await makeKey({ scopes: ['audit:read', 'keys:read'] });
    const keys: [string, number, string][] = [
      [revoked.api_key, 401, 'key_revoked'],
      [expired.api_key, 401, 'key_expired'],
      [reader.api_key, 403, 'forbidden'],
      [createKey().text, 401, 'unauthenticated'],
      [SQL, 401, 'unauthenticated'],
      [`${service.apiKey}\u00a0`, 401, 'unauthenticated'],
    ];
    const now = await written();
    for (const [apiKey, status, code] of keys)
      for (const [path, body] of [
        ['/entries/', entry('s', 1)],
        ['/entries/batch', { entries: [entry('s', 1)] }],
        ['/evidence/generate', { stream_id: 's' }],
        ['/streams/s/checkpoints', undefined],
        ['//keys/', { name: 'x', scopes: ['audit:read'] }],
      ] as const) {
        const answer = await service.call('POST', path, body, { authorization: `Bearer ${apiKey}` });
        expect([answer.status, answer.body.code], path).toEqual([status, code]);
      }
    expect(await written()).toEqual(now);
  });

  test.each([...TEXTS, 'metadata'])('SQL as %s is a text like any other', async (name) => {
    const given = { ...entry(`sql ${name}`, 1), [name]: name === 'metadata' ? { [SQL]: SQL } : SQL };
    const { status, body } = await service.call('POST', '/entries/', given);
    expect([status, body[name]]).toEqual([201, given[name as keyof typeof given]]);
    const query = name === 'metadata' ? `stream_id=${given.stream_id}` : new URLSearchParams({ [name]: SQL });
    expect((await service.call('GET', `/entries/?${query}`)).body.data).toContainEqual(body);
  });

  test('of requests with one idempotency key that arrive at once one has an effect', async () => {
    const { entries } = (await service.call('GET', '/stats/')).body;
    const headers = { 'idempotency-key': SQL };
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, at) => service.call('POST', '/entries/', entry('once', at % 2), headers)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(15).fill(200), 201, ...Array(16).fill(422)]);
    expect(new Set(answers.filter(({ status }) => status < 300).map(({ text }) => text)).size).toBe(1);
    const batch = { entries: [entry('once', 5), entry('once', 6)] };
    const batches = await Promise.all(
      Array.from({ length: 8 }, () => service.call('POST', '/entries/batch', batch, { 'idempotency-key': 'b' })),
    );
    expect(batches.map(({ status, body }) => [status, body.created]).sort()).toEqual([
      ...Array(7).fill([201, 0]),
      [201, 2],
    ]);
    expect((await service.call('GET', '/stats/')).body.entries).toBe(entries + 3);
  });

  test('afterwards every chain is whole', async () => {
    for (const { stream_id } of await listAll(service, '/streams/')) {
      const { body } = await service.call('POST', `/streams/${encodeURIComponent(stream_id)}/verify`);
      expect(body).toMatchObject({ verified: true, failures: [] });
    }
  });
});
