import { describe, expect, test } from 'vitest';
import { inferList, pagingLike } from '../../../src/probe/lists/list.ts';
import { nextLinkOf } from '../../../src/probe/lists/paging.ts';
import type { SampleAnswer } from '../../../src/probe/sample/sample.ts';
import type { Paging } from '../../../src/verifier/profile/list-description.ts';
import { answerOf, NOT_FOUND, serviceOf } from '../sample-service.ts';

const ALL = Array.from({ length: 45 }, (_, index) => ({ id: `item-${index}` }));
const SIZE = 20;

interface Slice {
  items: object[];
  at: number;
  size: number;
  isLast: boolean;
}

function slice(at: number, size: number): Slice {
  return { items: ALL.slice(at, at + size), at, size, isLast: at + size >= ALL.length };
}

const number = (query: URLSearchParams, name: string, otherwise: number) => Number(query.get(name) ?? otherwise);

async function infer(answer: (query: URLSearchParams) => SampleAnswer) {
  const { ask, questions } = serviceOf((path, query) => (path === '/things/' ? answer(query) : NOT_FOUND));
  const form = await inferList(ask, '/things/', {}, [], await ask({ url: '/things/' }));
  return { form, questions };
}

const services: [
  string,
  (query: URLSearchParams) => SampleAnswer,
  { items: string; paging: Paging; limit: object | null },
][] = [
  [
    'a bare array by skip and limit',
    (query) => answerOf(slice(number(query, 'skip', 0), number(query, 'limit', SIZE)).items),
    { items: '', paging: { style: 'offset', parameter: 'skip' }, limit: { parameter: 'limit', size: 500 } },
  ],
  [
    'pages by number from 1, cut at 30 without a word',
    (query) => {
      const size = Math.min(30, number(query, 'per_page', SIZE));
      return answerOf({ total: 45, items: slice((number(query, 'page', 1) - 1) * size, size).items });
    },
    {
      items: 'items',
      paging: { style: 'page', parameter: 'page', first: 1 },
      limit: { parameter: 'per_page', size: 30 },
    },
  ],
  [
    'pages by number from 0, in a nested array, of a fixed length',
    (query) => answerOf({ data: { list: slice(number(query, 'page', 0) * SIZE, SIZE).items, count: 45 } }),
    { items: 'data.list', paging: { style: 'page', parameter: 'page', first: 0 }, limit: null },
  ],
  [
    'a cursor with a parameter of another name, sizes above 100 refused',
    (query) => {
      const size = number(query, 'pageSize', SIZE);
      if (size > 100) return answerOf({}, { status: 400 });
      const { items, at, isLast } = slice(number(query, 'pageToken', 0), size);
      return answerOf({ items, ...(isLast ? {} : { nextPageToken: String(at + size) }) });
    },
    {
      items: 'items',
      paging: { style: 'cursor', next: 'nextPageToken', absent_at_end: true, parameter: 'pageToken' },
      limit: { parameter: 'pageSize', size: 100 },
    },
  ],
  [
    'a link in the body',
    (query) => {
      const { items, at, size, isLast } = slice(number(query, 'o', 0), number(query, 'size', SIZE));
      return answerOf({ results: items, links: { next: isLast ? null : `/things/?o=${at + size}&size=${size}` } });
    },
    {
      items: 'results',
      paging: { style: 'link', next: 'links.next', absent_at_end: true },
      limit: { parameter: 'size', size: 500 },
    },
  ],
  [
    'a Link header',
    (query) => {
      const { items, at, isLast } = slice(number(query, 'o', 0), SIZE);
      const next = `<http://service/things/?o=${at + SIZE}>; rel="next"`;
      return answerOf(items, { link: isLast ? null : `<http://service/>; rel="first", ${next}` });
    },
    { items: '', paging: { style: 'link', next: null, absent_at_end: true }, limit: null },
  ],
  ['all at once', () => answerOf({ rows: ALL }), { items: 'rows', paging: { style: 'single' }, limit: null }],
];

describe('how a list goes on is found by trying', () => {
  test.each(services)('%s', async (_, answer, expected) => {
    expect((await infer(answer)).form).toMatchObject(expected);
  });
});

describe('refused is', () => {
  test('a page that overlaps the first', async () => {
    const { form } = await infer((query) => answerOf(slice(number(query, 'offset', 0) > 0 ? SIZE - 1 : 0, SIZE).items));
    expect(form?.paging).toEqual({ style: 'single' });
  });

  test('a list that is another one every time', async () => {
    let turn = 0;
    const { form } = await infer(() => answerOf([{ id: turn++ }, { id: turn++ }, { id: turn++ }]));
    expect(form?.paging).toEqual({ style: 'single' });
  });

  test('a limit that gives two items, but not the first two', async () => {
    const { form } = await infer((query) => answerOf(query.has('limit') ? ALL.slice(5, 7) : ALL));
    expect(form?.limit).toBeNull();
  });

  test('an answer without an array', async () => {
    expect((await infer(() => answerOf({ data: 'none' }))).form).toBeNull();
  });
});

test('a list that is too short to tell goes on as the other one when it has the same member', async () => {
  const page = answerOf({ data: [{ id: 'one' }], next: null });
  const { ask } = serviceOf(() => page);
  const form = await inferList(ask, '/things/', {}, [], page);
  expect(form?.paging).toBeNull();
  if (form === null) return;
  const other = {
    items: 'data',
    limit: null,
    how: '',
    paging: { style: 'cursor', next: 'next', absent_at_end: false, parameter: 'after' },
  } as const;
  expect(pagingLike(form, [], page, other).paging).toEqual(other.paging);
  const unlike = answerOf({ rows: [{ id: 'one' }] });
  expect(pagingLike({ ...form, items: 'rows' }, [], unlike, other).paging).toEqual({ style: 'single' });
});

test.each([
  ['<https://a/?p=2>; rel="next"', 'https://a/?p=2'],
  ['<https://a/>; rel=prev, </b?c=d,e>; title="x, y"; rel="last next"', '/b?c=d,e'],
  ['<https://a/>; rel="nextish"', null],
  ['', null],
  [null, null],
])('the next link of %j', (header, expected) => {
  expect(nextLinkOf(header)).toBe(expected);
});
