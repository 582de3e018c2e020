import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GENESIS } from '../../../src/platform/audit/rules.ts';
import { entrySchema, type WireEntry } from '../../../src/platform/audit/wire.ts';
import { entry, listAll, type Service, startService } from '../service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const append = (body: unknown, headers?: Record<string, string>) => service.call('POST', '/entries/', body, headers);
const batch = (entries: unknown[], headers?: Record<string, string>) =>
  service.call('POST', '/entries/batch', { entries }, headers);

describe('one entry', () => {
  test('is answered as the contract says and linked to the one before', async () => {
    const first = await append(entry('one', 1));
    const second = await append(entry('one', 2, { occurred_at: '2026-10-31T23:00:00.123456+02:00' }));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(entrySchema.parse(first.body)).toMatchObject({ ...entry('one', 1), sequence: 1, prev_hash: GENESIS });
    expect(first.body).not.toHaveProperty('occurred_at');
    expect(entrySchema.parse(second.body)).toMatchObject({ sequence: 2, prev_hash: first.body.hash });
    expect(second.body.occurred_at).toBe('2026-10-31T23:00:00.123456+02:00');
    expect(Math.abs(Date.parse(first.body.timestamp) - Date.now())).toBeLessThan(10_000);
  });

  test('keeps metadata whole: odd names, exact numbers, no metadata at all', async () => {
    const metadata = '{"__proto__":{"a":1},"constructor":2,"":3,"n":1e21,"m":9007199254740992,"z":-0.5}';
    const sent = JSON.stringify(entry('odd', 1, { metadata: 'HERE' })).replace('"HERE"', metadata);
    const { text } = await append(sent);
    expect(text).toContain('"__proto__":{"a":1}');
    expect(text).toContain('"n":1e+21');
    expect(text).toContain('"m":9007199254740992');
    expect((await append(entry('odd', 2, { metadata: undefined }))).body.metadata).toEqual({});
    expect((await service.call('POST', '/streams/odd/verify')).body).toMatchObject({
      verified: true,
      entries_checked: 2,
    });
  });

  test.each([
    ['in the body', { idempotency_key: 'k' }, {}],
    ['in the header', {}, { 'idempotency-key': 'k' }],
    ['in both', { idempotency_key: 'k' }, { 'idempotency-key': 'k' }],
  ])('is recorded once under an idempotency key %s', async (name, some, others: Record<string, string>) => {
    const stream = `idempotent ${name}`;
    const key = (names: object) => Object.fromEntries(Object.keys(names).map((each) => [each, name]));
    const [member, header] = [key(some), key(others)];
    const first = await append(entry(stream, 1, member), header);
    await append(entry(stream, 2));
    const again = await append(entry(stream, 1, member), header);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.text).toBe(first.text);
    const other = await append(entry(stream, 3, member), header);
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_conflict']);
    expect(await listAll(service, `/entries/?stream_id=${encodeURIComponent(stream)}`)).toHaveLength(2);
  });

  test.each([
    ['another case', 'LOOKS/é'],
    ['decomposed characters', 'looks/e\u0301'],
    ['a blank at the end', 'looks/é '],
    ['an invisible character', 'looks\u200b/é'],
    ['full-width characters', 'ｌooks/é'],
    ['a no-break space', 'looks\u00a0/é'],
  ])('is refused for a stream that looks like another by %s', async (_name, similar) => {
    await append(entry('looks/é', 1));
    const { status, body } = await append(entry(similar, 1));
    expect([status, body.code, body.stream_id]).toEqual([409, 'stream_resembles', 'looks/é']);
    expect((await append(entry('looks/é', 2))).status).toBe(201);
  });

  test.each(['Platform/Administration', 'TRAPS', 'tr aps', 'platform/ x', 'agents\u00ad/a'])(
    'is refused for the stream %j, which looks like one of the platform',
    async (streamId) => {
      const { status, body } = await append(entry(streamId, 1));
      expect([status, body.code]).toEqual([422, 'invalid_request']);
      expect(body.detail).toContain('reserved for the platform');
    },
  );

  test.each([' ', '\u200b', '\t \u00ad'])(
    'is refused for a stream ID of invisible characters, %j',
    async (streamId) => {
      const { status, body } = await append(entry(streamId, 1));
      expect([status, body.code]).toEqual([422, 'invalid_request']);
    },
  );

  test('a key that was used in one stream is refused in another', async () => {
    const keys = ['left', 'right'].map((stream) => append(entry(stream, 1, { idempotency_key: 'same' })));
    const statuses = (await Promise.all(keys)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 422]);
    const streams = await listAll(service, '/streams/');
    expect(streams.filter(({ stream_id }) => ['left', 'right'].includes(stream_id))).toHaveLength(1);
  });

  test('a key cannot stand for two entries of one batch, and then none of it is recorded', async () => {
    const keyed = (number: number) => entry('twice', number, { idempotency_key: 'twice' });
    const { status, body } = await batch([keyed(1), keyed(2)]);
    expect([status, body.code]).toEqual([422, 'idempotency_conflict']);
    expect((await service.call('GET', '/streams/twice')).status).toBe(404);
  });

  test('two different keys in header and body are refused', async () => {
    const { status, body } = await append(entry('two', 1, { idempotency_key: 'a' }), { 'idempotency-key': 'b' });
    expect([status, body.code]).toEqual([422, 'invalid_request']);
  });
});

describe('a batch', () => {
  test('is recorded in order, over several streams', async () => {
    const { status, body } = await batch([entry('b1', 1), entry('b2', 2), entry('b1', 3)]);
    expect(status).toBe(201);
    expect([body.created, body.repeated]).toEqual([3, 0]);
    const places = body.data.map((item: WireEntry) => [item.stream_id, item.sequence, item.resource_id]);
    expect(places).toEqual([
      ['b1', 1, 'r/1'],
      ['b2', 1, 'r/2'],
      ['b1', 2, 'r/3'],
    ]);
    expect(body.data[2].prev_hash).toBe(body.data[0].hash);
  });

  test('honours the key of each entry, also within itself', async () => {
    const keyed = (number: number) => entry('keyed', number, { idempotency_key: `k${number}` });
    const first = await batch([keyed(1), keyed(2), keyed(1)]);
    expect([first.body.created, first.body.repeated]).toEqual([2, 1]);
    expect(first.body.data[2]).toEqual(first.body.data[0]);
    const second = await batch([keyed(2), keyed(3), keyed(1)]);
    expect([second.status, second.body.created, second.body.repeated]).toEqual([201, 1, 2]);
    expect(second.body.data.map(({ sequence }: WireEntry) => sequence)).toEqual([2, 3, 1]);
  });

  test('is recorded once under the key of the request', async () => {
    const header = { 'idempotency-key': 'request-1' };
    const first = await batch([entry('request', 1), entry('request', 1)], header);
    const again = await batch([entry('request', 1), entry('request', 1)], header);
    expect([again.body.created, again.body.repeated]).toEqual([0, 2]);
    expect(again.body.data).toEqual(first.body.data);
    const other = await batch([entry('request', 1)], header);
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_conflict']);
  });

  test('is recorded as a whole or not at all, beside others that are', async () => {
    await append(entry('all', 1, { idempotency_key: 'taken' }));
    const [refused, ...others] = await Promise.all([
      batch([entry('all', 2), entry('fresh', 1), entry('all', 3, { idempotency_key: 'taken' })]),
      ...Array.from({ length: 5 }, (_, number) => append(entry('all', 10 + number))),
    ]);
    expect([refused?.status, refused?.body.code]).toEqual([422, 'idempotency_conflict']);
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect((await service.call('GET', '/streams/fresh')).status).toBe(404);
    expect((await service.call('GET', '/streams/all')).body).toMatchObject({ entry_count: 6, head_sequence: 6 });
    expect((await service.call('POST', '/streams/all/verify')).body.verified).toBe(true);
  });
});

test('16 writers at once leave one chain without gap or fork', async () => {
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let number = 0; number < 25; number++) {
      const { status } = await append(entry('busy', number, { actor: `writer-${writer}` }));
      expect(status).toBe(201);
    }
  });
  await Promise.all(writers);
  const entries: WireEntry[] = await listAll(service, '/entries/?stream_id=busy&limit=500');
  expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 400 }, (_, index) => index + 1));
  for (const [index, { prev_hash, timestamp }] of entries.entries()) {
    expect(prev_hash).toBe(entries[index - 1]?.hash ?? GENESIS);
    expect(timestamp >= (entries[index - 1]?.timestamp ?? '')).toBe(true);
  }
  expect((await service.call('POST', '/streams/busy/verify')).body).toMatchObject({
    verified: true,
    entries_checked: 400,
  });
});

test.each([
  ['UPDATE', "UPDATE entries SET actor = 'x' WHERE sequence = 1"],
  ['DELETE', 'DELETE FROM entries WHERE sequence = 1'],
])('the database itself refuses %s of entries', async (_name, statement) => {
  const before = await service.sql('SELECT * FROM entries');
  await expect(service.sql(statement)).rejects.toThrow(/rows of entries are never changed/);
  expect(await service.sql('SELECT * FROM entries')).toBe(before);
});
