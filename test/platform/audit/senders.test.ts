import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalize, type Json } from '../../../src/core/json/canonical.ts';
import { keyIdOf } from '../../../src/platform/accounts/key.ts';
import { KEY_LIFETIME_MS } from '../../../src/platform/idempotency/keyed-results.ts';
import { entry, listAll, type Service, startService } from '../service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Creates an API key and returns a function that appends with it. */
async function sender(limits: object = {}) {
  const asked = { name: 'sender', scopes: ['audit:write'], ...limits };
  const { body, status } = await service.call('POST', '//keys/', asked);
  expect(status).toBe(201);
  return appendingWith(body.api_key);
}

function appendingWith(apiKey: string) {
  const authorization = `Bearer ${apiKey}`;
  return {
    id: keyIdOf(apiKey) ?? '',
    append: (body: object) => service.call('POST', '/entries/', body, { authorization }),
    post: (path: string, body: object) => service.call('POST', path, body, { authorization }),
  };
}

test('an entry says which API key sent it, whatever the actor is, and its hash covers that', async () => {
  const senders = [await sender(), await sender()];
  for (const [at, { append }] of senders.entries()) await append(entry('senders', at));
  const listed = await listAll(service, '/entries/?stream_id=senders');
  expect(listed.map(({ recorded_by }) => recorded_by)).toEqual(senders.map(({ id }) => `key:${id}`));
  for (const { hash, seal: _, ...content } of listed)
    expect(
      createHash('sha256')
        .update(canonicalize(content as Json) ?? '')
        .digest('hex'),
    ).toBe(hash);
});

test('an entry of the platform says that the platform recorded it', async () => {
  const [act] = await listAll(service, '/entries/?stream_id=platform%2Fadministration');
  expect(act?.recorded_by).toBe('platform');
});

test('nobody can state who recorded an entry', async () => {
  const { append } = await sender();
  const { status, body } = await append(entry('stated', 1, { recorded_by: 'key:another' }));
  expect([status, body.code]).toEqual([422, 'invalid_request']);
});

describe('a key limited to streams', () => {
  test.each([
    ['a/*', 'a/b', 201],
    ['a/*', 'a/b/c', 201],
    ['a/*', 'a/', 201],
    ['a/*', 'a', 403],
    ['a/*', 'b/a/c', 403],
    ['a*z', 'a to z', 201],
    ['a*z', 'az', 201],
    ['aa*aa', 'aaa', 403],
    ['*b*', 'abc', 201],
    ['*b*b*', 'abc', 403],
    ['exact', 'exact', 201],
    ['exact', 'exactly', 403],
    ['dot.*', 'dotted', 403],
    ['*', 'anything', 201],
  ])('of the pattern %s gets for the stream %s the status %i', async (pattern, streamId, expected) => {
    const { append } = await sender({ streams: ['none', pattern] });
    const { status, body } = await append(entry(streamId, 1));
    expect(status).toBe(expected);
    if (status === 403) expect([body.code, body.detail]).toEqual(['forbidden', expect.stringContaining(pattern)]);
  });

  test('is refused for a whole batch, and for a checkpoint', async () => {
    const { post } = await sender({ streams: ['mine'] });
    const refused = await post('/entries/batch', { entries: [entry('mine', 1), entry('theirs', 1)] });
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    expect((await post('/streams/theirs/checkpoints', {})).body.code).toBe('forbidden');
    expect(await listAll(service, '/entries/?stream_id=mine')).toHaveLength(0);
    expect((await post('/entries/batch', { entries: [entry('mine', 1)] })).status).toBe(201);
    expect((await post('/streams/mine/checkpoints', {})).status).toBe(201);
  });
});

test('a key limited to an actor appends as no other', async () => {
  const { append } = await sender({ actor: 'billing' });
  const { status, body } = await append(entry('bills', 1, { actor: 'Billing' }));
  expect([status, body.code, body.detail]).toEqual([403, 'forbidden', expect.stringContaining('as the actor billing')]);
  expect((await append(entry('bills', 1, { actor: 'billing' }))).status).toBe(201);
});

test('a rotated key keeps its limits', async () => {
  const { id } = await sender({ streams: ['s/*'], actor: 'a' });
  const { body } = await service.call('POST', `//keys/${id}/rotate`);
  expect(body).toMatchObject({ streams: ['s/*'], actor: 'a', lineage: id });
  const { append } = appendingWith(body.api_key);
  expect((await append(entry('other', 1, { actor: 'a' }))).status).toBe(403);
});

describe('a new key', () => {
  test.each([
    ['exporter', ['agents:read', 'audit:export', 'audit:read', 'endpoints:read', 'traps:read']],
    ['recorder', ['audit:write']],
    ['monitoring', ['metrics:read']],
  ])('by the preset %s has the scopes %j', async (preset, scopes) => {
    const { body } = await service.call('POST', '//keys/', { name: 'preset', preset });
    expect(body.scopes.toSorted()).toEqual(scopes);
  });

  test('by the preset auditor can read everything, and nothing else', async () => {
    const { body } = await service.call('POST', '//keys/', { name: 'preset', preset: 'auditor' });
    expect(body.scopes).toContain('people:read');
    expect(body.scopes.filter((scope: string) => !scope.endsWith(':read'))).toEqual([]);
  });

  test.each([
    ['both scopes and a preset', { scopes: ['audit:write'], preset: 'recorder' }, 'scopes'],
    ['neither', {}, 'scopes'],
    ['an unknown preset', { preset: 'root' }, 'preset'],
    ['streams and a scope to read', { scopes: ['audit:write', 'audit:read'], streams: ['a'] }, 'streams'],
    ['an actor and a scope to read', { scopes: ['audit:read'], actor: 'a' }, 'actor'],
    ['streams and another preset', { preset: 'exporter', streams: ['a'] }, 'streams'],
    ['no pattern', { preset: 'recorder', streams: [] }, 'streams'],
    ['too many patterns', { preset: 'recorder', streams: Array(51).fill('a') }, 'streams'],
  ])('with %s is refused', async (_name, asked, field) => {
    const { status, body } = await service.call('POST', '//keys/', { name: 'wrong', ...asked });
    expect([status, body.code]).toEqual([422, 'invalid_request']);
    expect(JSON.stringify(body)).toContain(field);
  });
});

describe('an idempotency key', () => {
  test('belongs to its API key: another gets neither the result nor a conflict', async () => {
    const [first, second] = [await sender(), await sender()];
    const mine = await first.append(entry('keyed', 1, { idempotency_key: 'invoice' }));
    const same = await second.append(entry('keyed', 1, { idempotency_key: 'invoice' }));
    const other = await second.append(entry('keyed', 2, { idempotency_key: 'invoice' }));
    expect([mine.status, same.status, other.status]).toEqual([201, 201, 422]);
    expect(same.body.sequence).toBe(2);
    expect((await first.append(entry('keyed', 1, { idempotency_key: 'invoice' }))).text).toBe(mine.text);
  });

  test('cannot be made to look like that of another', async () => {
    const [first, second] = [await sender(), await sender()];
    const mine = await first.append(entry('spelled', 1, { idempotency_key: 'x' }));
    for (const idempotency_key of [JSON.stringify(['key', first.id, 'x']), `key","${first.id}","x`, `${first.id}/x`])
      expect((await second.append(entry('spelled', 1, { idempotency_key }))).status).toBe(201);
    expect(mine.status).toBe(201);
  });

  test('still belongs to the key that replaces it', async () => {
    const old = await sender();
    const mine = await old.append(entry('replaced', 1, { idempotency_key: 'k' }));
    let { id } = old;
    for (let rotation = 0; rotation < 2; rotation++) {
      const { body } = await service.call('POST', `//keys/${id}/rotate`);
      id = body.key_id;
      const again = await appendingWith(body.api_key).append(entry('replaced', 1, { idempotency_key: 'k' }));
      expect([again.status, again.text]).toEqual([200, mine.text]);
    }
  });

  test('ends: the request is then new', async () => {
    const { append } = await sender();
    const once = () => append(entry('ended', 1, { idempotency_key: 'k' }));
    const statuses = [(await once()).status];
    statuses.push((await once()).status);
    const [until] = (await service.sql('SELECT max(until) FROM keyed_results;')).split('\n');
    expect(Math.abs(Date.parse(until ?? '') - Date.now() - KEY_LIFETIME_MS)).toBeLessThan(60_000);
    await service.sql(`UPDATE keyed_results SET until = '${new Date().toISOString()}';`);
    statuses.push((await once()).status, (await once()).status);
    expect(statuses).toEqual([201, 200, 201, 200]);
  });
});
