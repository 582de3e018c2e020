import { describe, expect, test } from 'vitest';
import { inferEntries } from '../../../src/probe/lists/entries.ts';
import { Reasoning } from '../../../src/probe/report.ts';
import { answerOf, chainOf, NOT_FOUND, serviceOf } from '../sample-service.ts';

/** Lists of entries whose next page ignores the filter of the page before. */

const STREAMS = { a: chainOf('a', 40), b: chainOf('b', 40) };
const EVERYTHING = Array.from({ length: 80 }, (_, at) => (at % 2 === 0 ? STREAMS.a : STREAMS.b)[at >> 1]);
const SIZE = 10;

function service(keepsByNumber: boolean) {
  return serviceOf((path, query) => {
    if (path !== '/entries/') return NOT_FOUND;
    const page = Number(query.get('page') ?? 1);
    const asked = page > 1 && !keepsByNumber ? null : query.get('stream_id');
    const entries = EVERYTHING.filter((entry) => asked === null || entry?.stream === asked);
    const next = page * SIZE < entries.length ? `/entries/?page=${page + 1}` : null;
    return answerOf({ results: entries.slice((page - 1) * SIZE, page * SIZE), next });
  });
}

async function survey(keepsByNumber: boolean) {
  const { ask } = service(keepsByNumber);
  const reasoning = new Reasoning();
  const unfiltered = await ask({ url: '/entries/' });
  const streams = { ids: ['a', 'b'], idInEntry: 'stream', unfiltered, form: null };
  const found = await inferEntries(ask, { entries: [], generate: null } as never, streams as never, reasoning);
  return { found, missing: reasoning.missing };
}

const LOST = expect.stringMatching(
  /\/entries\/\?page=….* has entries of streams other than "a".*drops the filter "stream_id"/,
);

describe('a next page that loses the filter', () => {
  test('is asked for by its number, where that keeps it', async () => {
    const { found, missing } = await survey(true);
    expect(missing).toMatchObject([{ what: 'next page', why: LOST }]);
    expect(found?.list.paging).toEqual({ style: 'page', parameter: 'page', first: 1 });
    expect(found?.streams.map(({ streamId, entries }) => [streamId, entries.length])).toEqual([
      ['a', 40],
      ['b', 40],
    ]);
  });

  test('is read without it, where nothing keeps it, and entries are told apart by their stream', async () => {
    const { found, missing } = await survey(false);
    expect(missing).toMatchObject([{ what: 'entries of a stream', why: LOST }]);
    expect(found?.filter).toBeNull();
    expect(found?.streams.map(({ streamId, entries }) => [streamId, entries.length])).toEqual([
      ['a', 40],
      ['b', 40],
    ]);
  });
});
