import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keyIdOf } from '../../../src/platform/accounts/key.ts';
import { type Answer, entry, listAll, SERVICES, type Service } from '../service.ts';

const YEAR = 365 * 24 * 3600 * 1000;
const later = (ms: number) => new Date(Date.now() + ms).toISOString();

describe.each(SERVICES)('/keys on %s', (_name, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.close());

  const make = (body: object, headers?: Record<string, string>) => service.call('POST', '//keys/', body, headers);
  const makeKey = async (more: object = {}) => {
    const { status, text, body } = await make({ name: 'a key', scopes: ['audit:read'], ...more });
    if (status !== 201) throw new Error(text);
    return body;
  };
  const as = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });
  const statusOf = async (apiKey: string) => {
    const { status, body } = await service.call('GET', '/stats/', undefined, as(apiKey));
    return status === 200 ? status : body.code;
  };
  const rotate = (id: string, body?: object, headers?: Record<string, string>) =>
    service.call('POST', `//keys/${id}/rotate`, body, headers);
  const revoke = (id: string) => service.call('POST', `//keys/${id}/revoke`);
  const outcome = ({ status, body }: Answer) => [status, body.code];

  test('makes a key that can do what it was made for, and answers its text once', async () => {
    const expires_at = later(YEAR);
    const { api_key, ...key } = await makeKey({ name: 'Prüfer', scopes: ['audit:write', 'audit:read'], expires_at });
    expect(key).toEqual({
      key_id: keyIdOf(api_key),
      name: 'Prüfer',
      scopes: ['audit:read', 'audit:write'],
      created_at: expect.any(String),
      expires_at,
      revoked_at: null,
      last_used_at: null,
      rotated_from: null,
      bound_to: null,
      lineage: keyIdOf(api_key),
      streams: null,
      actor: null,
      maker_id: null,
    });
    expect((await service.call('POST', '/entries/', entry('s', 1), as(api_key))).status).toBe(201);
    const listed = await listAll(service, '//keys/?limit=1');
    expect(listed.find(({ key_id }) => key_id === key.key_id)).toMatchObject({ name: 'Prüfer' });
    expect(JSON.stringify(listed)).not.toContain(api_key.slice(-49));
  });

  test('lists all keys once, in pages', async () => {
    await makeKey();
    const listed = await listAll(service, '//keys/?limit=1');
    const ids = listed.map(({ key_id }) => key_id);
    expect(ids.length).toBeGreaterThan(2);
    expect(new Set(ids).size).toBe(ids.length);
    const times = listed.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().reverse());
  });

  test('gives no scope that the key of the request has not got', async () => {
    const { api_key } = await makeKey({ scopes: ['keys:write', 'audit:read'] });
    const strong = await makeKey({ scopes: ['audit:write'] });
    const { length } = await listAll(service, '//keys/');
    const input = { name: 'more', scopes: ['audit:read', 'audit:write'] };
    const refused = await make(input, as(api_key));
    expect([...outcome(refused), refused.body.detail]).toEqual([
      403,
      'forbidden',
      expect.stringContaining('audit:write'),
    ]);
    expect(outcome(await rotate(strong.key_id, undefined, as(api_key)))).toEqual([403, 'forbidden']);
    expect(await listAll(service, '//keys/')).toHaveLength(length);
    expect((await make({ ...input, scopes: ['audit:read'] }, as(api_key))).status).toBe(201);
  });

  test('a repeated request makes no other key, and says that the text was shown', async () => {
    const headers = { 'idempotency-key': 'once' };
    const input = { name: 'once', scopes: ['audit:read'] };
    const answers = await Promise.all(Array.from({ length: 5 }, () => make(input, headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    const made = answers.find(({ status }) => status === 201)?.body;
    for (const { status, body, text } of answers) {
      if (status === 201) continue;
      expect([body.code, body.detail]).toEqual(['key_shown_before', expect.stringContaining(made.key_id)]);
      expect(text).not.toContain('sk_');
    }
    expect((await listAll(service, '//keys/')).filter(({ name }) => name === 'once')).toHaveLength(1);
    expect(outcome(await make({ ...input, name: 'twice' }, headers))).toEqual([422, 'idempotency_conflict']);
  });

  test('rotates a key: both are good for the overlap, or only the new one', async () => {
    const old = await makeKey({ name: 'rotated' });
    const { status, body } = await rotate(old.key_id, { overlap_seconds: 3600 });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ name: 'rotated', scopes: ['audit:read'], expires_at: null, rotated_from: old.key_id }),
    ]);
    const [listed] = (await listAll(service, '//keys/')).filter(({ key_id }) => key_id === old.key_id);
    expect(Math.abs(Date.parse(listed.expires_at) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect([await statusOf(old.api_key), await statusOf(body.api_key)]).toEqual([200, 200]);
    const again = await rotate(body.key_id, { overlap_seconds: 0 });
    expect([await statusOf(body.api_key), await statusOf(again.body.api_key)]).toEqual(['key_expired', 200]);
  });

  test('a rotated key ends when the old one would have, unless told otherwise', async () => {
    const expires_at = later(YEAR);
    const [one, other] = [await makeKey({ expires_at }), await makeKey({ expires_at })];
    expect((await rotate(one.key_id)).body.expires_at).toBe(expires_at);
    expect((await rotate(other.key_id, { expires_at: null })).body.expires_at).toBeNull();
  });

  test('of rotations of one key at a time, one makes a key', async () => {
    const { key_id } = await makeKey();
    const answers = await Promise.all(Array.from({ length: 4 }, () => rotate(key_id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const headers = { 'idempotency-key': 'rotate once' };
    const keyed = (await makeKey()).key_id;
    expect((await rotate(keyed, {}, headers)).status).toBe(201);
    expect(outcome(await rotate(keyed, {}, headers))).toEqual([409, 'key_shown_before']);
  });

  test('a revoked key does nothing any more, and stays in the list', async () => {
    const { key_id, api_key } = await makeKey();
    const first = await revoke(key_id);
    expect([first.status, first.body]).toEqual([
      200,
      expect.objectContaining({ key_id, revoked_at: expect.any(String) }),
    ]);
    expect(await statusOf(api_key)).toBe('key_revoked');
    expect((await revoke(key_id)).text).toBe(first.text);
    expect(outcome(await rotate(key_id))).toEqual([409, 'key_ended']);
  });

  test.each<[string, string, object | undefined, number, string]>([
    ['no name', '//keys/', { scopes: ['audit:read'] }, 422, 'invalid_request'],
    ['a name that PostgreSQL cannot hold', '//keys/', { name: 'a\0', scopes: ['audit:read'] }, 422, 'invalid_request'],
    ['no scope', '//keys/', { name: 'x', scopes: [] }, 422, 'invalid_request'],
    ['an unknown scope', '//keys/', { name: 'x', scopes: ['audit:admin'] }, 422, 'invalid_request'],
    [
      'an end without a zone',
      '//keys/',
      { name: 'x', scopes: ['audit:read'], expires_at: '2030-01-01T00:00:00' },
      422,
      'invalid_request',
    ],
    [
      'an end that is past',
      '//keys/',
      { name: 'x', scopes: ['audit:read'], expires_at: '2020-01-01T00:00:00Z' },
      422,
      'invalid_request',
    ],
    ['a rotation of no key', '//keys/none/rotate', {}, 404, 'not_found'],
    ['a revocation of no key', '//keys/none/revoke', undefined, 404, 'not_found'],
    ['an id with U+0000', '//keys/a%00/revoke', undefined, 422, 'invalid_request'],
    ['an overlap below 0', '//keys/none/rotate', { overlap_seconds: -1 }, 422, 'invalid_request'],
  ])('%s is refused', async (_what, path, body, status, code) => {
    expect(outcome(await service.call('POST', path, body))).toEqual([status, code]);
  });
});
