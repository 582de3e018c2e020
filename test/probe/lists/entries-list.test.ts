import { describe, expect, test } from 'vitest';
import { findPeriodFilter, findStreamFilter, orderOf } from '../../../src/probe/lists/entries-list.ts';
import { findChains } from '../../../src/probe/roles/chain.ts';
import { findEntryId, findSeal, findStreamId, findTimestamp } from '../../../src/probe/roles/entry.ts';
import { findStreamRoles } from '../../../src/probe/roles/stream.ts';
import type { List } from '../../../src/verifier/profile/list-description.ts';
import { answerOf, chainOf, type PlainEntry, samplesOf, serviceOf, sha256, streamOf } from '../sample-service.ts';

const STREAMS = { a: chainOf('a', 40), b: chainOf('b', 7), c: chainOf('c', 0) };
const IDS = Object.keys(STREAMS);
const EVERYTHING = Object.values(STREAMS).flat();
const LIST: List = {
  path: '/entries/',
  items: '',
  paging: { style: 'offset', parameter: 'skip' },
  limit: { parameter: 'limit', size: 10 },
};

function paged(entries: readonly PlainEntry[], query: URLSearchParams) {
  const skip = Number(query.get('skip') ?? 0);
  return answerOf(entries.slice(skip, skip + Number(query.get('limit') ?? 10)));
}

describe('the entries of one stream', () => {
  test('are selected by the parameter that does it', async () => {
    const { ask } = serviceOf((_, query) =>
      paged(
        EVERYTHING.filter(({ stream }) => (query.get('streamId') ?? stream) === stream),
        query,
      ),
    );
    expect(await findStreamFilter(ask, IDS, 'stream', [])).toMatchObject({
      parameter: 'streamId',
      example: { streamId: 'a' },
    });
  });

  test('are selected by it, though one of them says that it is of another stream', async () => {
    const foreign = STREAMS.a.map((entry) => (entry.n === 4 ? { ...entry, stream: 'b' } : entry));
    const { ask } = serviceOf((_, query) => {
      const wanted = query.get('stream_id');
      return paged(wanted === null || wanted === 'a' ? foreign : wanted === 'b' ? STREAMS.b : [], query);
    });
    expect(await findStreamFilter(ask, IDS, 'stream', [])).toMatchObject({ parameter: 'stream_id' });
  });

  test('are not selected by one that is ignored, even if the first page is of one stream', async () => {
    const { ask } = serviceOf((_, query) => paged(STREAMS.a, query));
    expect(await findStreamFilter(ask, ['a'], 'stream', [])).toBeNull();
  });
});

describe('the entries of a period', () => {
  const stream = streamOf('a', STREAMS.a);
  const timestamp = { field: 'at', unit: 'text' } as const;
  const find = (select: (entry: PlainEntry, query: URLSearchParams) => boolean) => {
    const { ask } = serviceOf((_, query) =>
      paged(
        STREAMS.a.filter((entry) => select(entry, query)),
        query,
      ),
    );
    return findPeriodFilter(ask, LIST, { stream: 'a' }, stream, timestamp, []);
  };
  const from = (name: string) => (entry: PlainEntry, query: URLSearchParams) => entry.at >= (query.get(name) ?? '');
  const to = (name: string) => (entry: PlainEntry, query: URLSearchParams) => entry.at < (query.get(name) ?? '9');

  test('are selected by what does it on each side', async () => {
    const found = await find((entry, query) => from('since')(entry, query) && to('endTime')(entry, query));
    expect(found).toEqual({ wasTried: true, from: 'since', to: 'endTime' });
  });

  test.each<[string, (entry: PlainEntry, query: URLSearchParams) => boolean]>([
    ['are ignored', () => true],
    ['exclude their own moment at the beginning', (entry, query) => entry.at > (query.get('from') ?? '')],
    ['include their own moment at the end', (entry, query) => entry.at <= (query.get('to') ?? '9')],
    ['give as many entries, but others', (entry, query) => !query.has('from') || entry.n <= 21],
    ['are the wrong way round', (entry, query) => entry.at < (query.get('from') ?? '9')],
  ])('are not selected by parameters that %s', async (_, select) => {
    expect(await find(select)).toEqual({ wasTried: true, from: null, to: null });
  });

  describe('of a stream that was not read to its end, the newest first', () => {
    const newest = streamOf('a', STREAMS.a.toReversed().slice(0, 20), false);
    const findIn = (select: (entry: PlainEntry, query: URLSearchParams) => boolean) => {
      const { ask } = serviceOf((_, query) =>
        paged(
          STREAMS.a.toReversed().filter((entry) => select(entry, query)),
          query,
        ),
      );
      return findPeriodFilter(ask, LIST, { stream: 'a' }, newest, timestamp, []);
    };

    test('are selected by what does it', async () => {
      const found = await findIn((entry, query) => from('since')(entry, query) && to('until')(entry, query));
      expect(found).toEqual({ wasTried: true, from: 'since', to: 'until' });
    });

    test('are not selected by what is ignored', async () => {
      expect(await findIn(() => true)).toEqual({ wasTried: true, from: null, to: null });
    });
  });

  test('cannot be told when all have the same time', async () => {
    const same = STREAMS.a.map((entry) => ({ ...entry, at: '2026-10-01T00:00:00Z' }));
    const { ask, questions } = serviceOf(() => answerOf([]));
    const found = await findPeriodFilter(ask, LIST, {}, streamOf('a', same), timestamp, []);
    expect(found).toEqual({ wasTried: false, from: null, to: null });
    expect(questions).toEqual([]);
  });
});

describe('roles by value', () => {
  const streams = [streamOf('a', STREAMS.a), streamOf('b', STREAMS.b)];
  const [chain] = findChains(streams);
  if (chain === undefined) throw new Error('the sample has no chain');

  test('the stream, though another field is as unique', () => {
    const records = samplesOf(IDS.map((id) => ({ label: `Stream ${id}`, id })));
    expect(findStreamId(records, samplesOf(EVERYTHING))).toMatchObject({ inList: 'id', inEntry: 'stream' });
    const foreign = samplesOf([...EVERYTHING, { ...EVERYTHING[0], stream: 'unknown' }]);
    expect(findStreamId(records, foreign)).toMatchObject({ inEntry: 'stream' });
    const many = EVERYTHING.map((entry) => (entry.n % 4 === 0 ? { ...entry, stream: 'unknown' } : entry));
    expect(findStreamId(records, samplesOf(many))).toBeNull();
  });

  const record = (id: string, entries: readonly PlainEntry[]) => ({
    id,
    total: entries.length,
    tip: entries.at(-1)?.digest ?? null,
    last: entries.at(-1)?.n ?? null,
    is_valid: null,
  });
  test('what a stream states of itself', () => {
    const records = Object.entries(STREAMS).map(([id, entries]) => record(id, entries));
    expect(findStreamRoles(samplesOf(records), streams, 'id', chain).found).toEqual({
      entry_count: 'total',
      head_sequence: 'last',
      head_digest: 'tip',
      verified: 'is_valid',
      last_checked_at: null,
    });
  });

  test('a number or a digest that is right for one stream only is neither count nor head', () => {
    const records = [record('a', STREAMS.a), { ...record('b', STREAMS.b), total: 8, last: 6, tip: sha256('b') }];
    const { found } = findStreamRoles(samplesOf(records), streams, 'id', chain);
    expect(found).toMatchObject({ entry_count: null, head_sequence: null, head_digest: null });
  });

  test('the time of recording never goes back; the time of the event may', () => {
    const late = STREAMS.a.map((entry, index) => ({
      occurred: '2026-01-01T00:00:00Z',
      time: index === 3 ? '2020-01-01T00:00:00' : entry.at,
      ...entry,
    }));
    expect(findTimestamp([streamOf('a', late)], chain)).toMatchObject({ field: 'at', unit: 'text', backwards: 0 });
    const unix = STREAMS.a.map(({ at, ...entry }) => ({ ...entry, ts: Date.parse(at) }));
    expect(findTimestamp([streamOf('a', unix)], chain)).toMatchObject({ field: 'ts', unit: 'milliseconds' });
    const seconds = STREAMS.a.map(({ at, ...entry }) => ({ ...entry, ts: Date.parse(at) / 1000 }));
    expect(findTimestamp([streamOf('a', seconds)], chain)).toMatchObject({ field: 'ts', unit: 'seconds' });
  });

  test('an entry id is of one entry among all streams', () => {
    const entries = samplesOf(
      EVERYTHING.map((entry, index) => ({ ...entry, id: entry.n, uid: `u${index}`, request_id: `r${index}` })),
    );
    expect(findEntryId(entries, ['n', 'before', 'digest'])).toBe('uid');
  });

  test('a digest of an attachment is no seal; a signature with a key is', () => {
    const attached = STREAMS.a.map((entry) => ({ ...entry, attachment_digest: sha256(entry.at) }));
    expect(findSeal(samplesOf(attached), chain)).toBeNull();
    const signed = attached.map((entry) => ({ ...entry, sig: sha256(entry.digest), key_version: 'v1' }));
    expect(findSeal(samplesOf(signed), chain)).toMatchObject({ field: 'sig', keyField: 'key_version' });
  });

  test('three of four streams are enough for count and head; the fourth is named', () => {
    const of = ['a', 'b', 'd', 'e'].map((id) => ({ id, entries: chainOf(id, id.charCodeAt(0) - 90) }));
    const records = of.map(({ id, entries }) => ({ ...record(id, entries), ...(id === 'd' ? { total: 99 } : {}) }));
    const whole = of.map(({ id, entries }) => streamOf(id, entries));
    const { found, differ } = findStreamRoles(samplesOf(records), whole, 'id', chain);
    expect(found).toMatchObject({ entry_count: 'total', head_sequence: 'last', head_digest: 'tip' });
    expect(differ).toEqual(['d']);
  });

  const spoil = (more: object) => STREAMS.a.map((entry) => (entry.n === 7 ? { ...entry, ...more } : entry));
  test.each([
    ['goes back', { at: '1999-01-01T00:00:00Z' }],
    ['is no time', { at: 'never' }],
    ['is of the far future', { at: '2999-01-01T00:00:00Z' }],
    ['is of another kind', { at: 1760000000 }],
    ['is absent', { at: undefined }],
  ])('the time of recording, though that of one entry %s', (_, more) => {
    expect(findTimestamp([streamOf('a', spoil(more))], chain)).toMatchObject({ field: 'at', unit: 'text' });
    const first = STREAMS.a.map((entry) => (entry.n === 1 ? { ...entry, ...more } : entry));
    expect(findTimestamp([streamOf('a', first)], chain)).toMatchObject({ field: 'at', unit: 'text' });
  });

  test.each([
    ['another’s', { uid: 'u3', sig: sha256('3'), kid: 'k1' }],
    ['none', { uid: null, sig: null, kid: null }],
    ['absent', { uid: undefined, sig: undefined, kid: undefined }],
    ['of another form', { uid: 7, sig: 'x', kid: 'k'.repeat(100) }],
  ])('entry id, seal and key, though those of one entry are %s', (_, more) => {
    const entries = STREAMS.a.map((entry) => ({ ...entry, uid: `u${entry.n}`, sig: sha256(`${entry.n}`), kid: 'k1' }));
    const samples = samplesOf(entries.map((entry) => (entry.n === 7 ? { ...entry, ...more } : entry)));
    expect(findEntryId(samples, ['n', 'before', 'digest'])).toBe('uid');
    expect(findSeal(samples, chain)).toMatchObject({ field: 'sig', keyField: 'kid' });
  });

  test('the order of a list', () => {
    expect(orderOf(streams, chain)).toBe('ascending');
    expect(orderOf([streamOf('a', STREAMS.a.toReversed())], chain)).toBe('descending');
    expect(orderOf([streamOf('a', STREAMS.a.toSpliced(0, 2, ...STREAMS.a.slice(0, 2).toReversed()))], chain)).toBe(
      'unordered',
    );
  });
});
