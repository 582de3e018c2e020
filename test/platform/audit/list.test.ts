import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WireEntry, WireStream } from '../../../src/platform/audit/wire.ts';
import { fromCursor, toCursor } from '../../../src/platform/http/cursor.ts';
import { entry, fill, listAll, type Service, startService } from '../service.ts';

const BIG = 12_000;
let service: Service;
beforeAll(async () => {
  service = await startService();
  await fill(service, 'big', BIG);
  for (const stream of ['a', 'b', 'zz', 'ü']) await fill(service, stream, 7);
});
afterAll(() => service.close());

const places = (entries: WireEntry[]) => entries.map(({ stream_id, sequence }) => `${stream_id}/${sequence}`);

describe('entries', () => {
  test('are all listed once, in the order in which they were recorded, whatever the page size', async () => {
    const whole = places(await listAll(service, '/entries/?limit=500'));
    expect(whole).toHaveLength(BIG + 28);
    expect(new Set(whole).size).toBe(BIG + 28);
    const small = places(await listAll(service, '/entries/?limit=3&stream_id=b'));
    expect(small).toEqual(whole.filter((place) => place.startsWith('b/')));
    const streams = [...new Set(whole.map((place) => place.split('/')[0]))];
    expect(streams).toEqual(['big', 'a', 'b', 'zz', 'ü']);
    expect(places(await listAll(service, '/entries/?limit=500&order=newest'))).toEqual(whole.toReversed());
  });

  test('50 are a page unless told otherwise', async () => {
    expect((await service.call('GET', '/entries/')).body.data).toHaveLength(50);
    expect((await service.call('GET', '/entries/?limit=500')).body.data).toHaveLength(500);
  });

  test('that are appended meanwhile neither repeat nor hide others', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await service.call('GET', `/entries/?stream_id=zz&limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...places(body.data));
      cursor = body.next_cursor ?? '';
      if (seen.length === 4) await service.call('POST', '/entries/', entry('aa', 1));
    } while (cursor !== '');
    expect(seen).toEqual(Array.from({ length: 7 }, (_, index) => `zz/${index + 1}`));
  });

  test('are served as they were when they were recorded', async () => {
    const created = await service.call('POST', '/entries/', entry('served', 1));
    const { text } = await service.call('GET', '/entries/?stream_id=served');
    expect(text).toBe(`{"data":[${created.text}],"next_cursor":null}`);
  });

  test.each<[string, (item: WireEntry) => boolean]>([
    ['stream_id=a', ({ stream_id }) => stream_id === 'a'],
    ['actor=actor-1', ({ actor }) => actor === 'actor-1'],
    ['action=object.read&stream_id=b', ({ action, stream_id }) => action === 'object.read' && stream_id === 'b'],
    ['resource_id=r%2F11999', ({ resource_id }) => resource_id === 'r/11999'],
    ['resource_type=bucket&resource_id=r/3', ({ resource_id }) => resource_id === 'r/3'],
    ['resource_type=none', () => false],
    ['after_sequence=11990', ({ sequence }) => sequence > 11_990],
    ['after_sequence=5&stream_id=a', ({ sequence, stream_id }) => sequence > 5 && stream_id === 'a'],
    ['stream_id=none', () => false],
  ])('?%s selects exactly those', async (filter, matches) => {
    const all: WireEntry[] = await listAll(service, '/entries/?limit=500');
    expect(places(await listAll(service, `/entries/?limit=500&${filter}`))).toEqual(places(all.filter(matches)));
  });

  test('are selected by a half-open period, in any zone and precision', async () => {
    const all: WireEntry[] = await listAll(service, '/entries/?limit=500&stream_id=big');
    const middle = all[BIG / 2]?.timestamp ?? '';
    const before = all.filter(({ timestamp }) => timestamp < middle).length;
    const count = async (query: string) =>
      (await listAll(service, `/entries/?limit=500&stream_id=big&${query}`)).length;
    expect(await count(`to=${middle}`)).toBe(before);
    expect(await count(`from=${middle}`)).toBe(BIG - before);
    const elsewhere = new Date(Date.parse(middle) + 7_200_000).toISOString().replace('Z', '+02:00');
    expect(await count(`from=${encodeURIComponent(elsewhere)}`)).toBe(BIG - before);
    const later = middle.replace('Z', '0001Z');
    expect(await count(`from=${later}`)).toBe(all.filter(({ timestamp }) => timestamp > middle).length);
    expect(await count(`to=${later}`)).toBe(all.filter(({ timestamp }) => timestamp <= middle).length);
  });

  test('large ones make a page shorter, and none is lost', async () => {
    const metadata = { text: 'x'.repeat(2 ** 18 - 100) };
    for (let number = 0; number < 40; number++)
      await service.call('POST', '/entries/', entry('large', number, { metadata }));
    const first = await service.call('GET', '/entries/?stream_id=large');
    expect(first.body.data.length).toBeLessThan(40);
    expect(first.body.next_cursor).toBeTypeOf('string');
    expect(places(await listAll(service, '/entries/?stream_id=large'))).toHaveLength(40);
  });
});

describe('streams', () => {
  test('are listed in pages, with what is known of each', async () => {
    const streams: WireStream[] = await listAll(service, '/streams?limit=2');
    expect(streams.slice(0, 3).map(({ stream_id }) => stream_id)).toEqual(['a', 'aa', 'b']);
    const big = streams.find(({ stream_id }) => stream_id === 'big');
    const [head] = (await service.call('GET', `/entries/?stream_id=big&after_sequence=${BIG - 1}`)).body.data;
    expect(big).toEqual({
      stream_id: 'big',
      entry_count: BIG,
      head_sequence: BIG,
      head_hash: head.hash,
      created_at: expect.any(String),
      last_entry_at: head.timestamp,
      verified: false,
      verification_status: 'unverified',
      last_checked_at: null,
      verified_through_sequence: null,
    });
  });

  test('a cursor of another list is refused', async () => {
    const { next_cursor } = (await service.call('GET', '/streams?limit=1')).body;
    expect((await service.call('GET', `/entries/?cursor=${next_cursor}`)).body.code).toBe('invalid_cursor');
    expect(fromCursor('one', ['number'], toCursor('one', [7]))).toEqual([7]);
    expect(() => fromCursor('one', ['number'], toCursor('two', [7]))).toThrow(/not issued by this list/);
  });
});

test('the statistics count what there is', async () => {
  await service.call('POST', '/streams/a/verify');
  await service.call('POST', '/evidence/generate', { stream_id: 'a' });
  await service.call('POST', '/streams/a/checkpoints');
  const streams: WireStream[] = await listAll(service, '/streams/');
  const entries = streams.reduce((sum, { entry_count }) => sum + entry_count, 0);
  expect((await service.call('GET', '/stats')).body).toEqual({
    streams: streams.length,
    entries,
    entries_24h: entries,
    verified_streams: 1,
    failed_streams: 0,
    unverified_streams: streams.length - 1,
    checkpoints: 1,
    pending_anchors: 0,
    evidence_packages: 1,
    missing_streams: 0,
    checks_changed: false,
  });
});
