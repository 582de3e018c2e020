import { describe, expect, test } from 'vitest';
import { type KnownItems, PageReader } from '../../../src/exporter/client/page-reader.ts';
import type { List } from '../../../src/verifier/profile/list-description.ts';

const list = (items: string): List => ({
  path: '/entries/',
  items,
  paging: { style: 'single' },
  limit: null,
});

/** Two items with known content. */
const ONE = '{"n":1,"more":[{"a":1},{"b":2}]}';
const TWO = '{"n":2}';
const known: KnownItems = {
  match(text, at) {
    const rest = Buffer.from(text).subarray(at).toString();
    if (rest.startsWith(`${ONE},${TWO}`)) return { count: 2, end: at + ONE.length + 1 + TWO.length };
    return rest.startsWith(ONE) ? { count: 1, end: at + ONE.length } : { count: 0, end: at };
  },
};

function read(body: string, items = 'data') {
  const reader = new PageReader(list(items), known);
  const result = reader.read(Buffer.from(body));
  return { known: reader.known, value: 'value' in result ? result.value : result.why };
}

describe('known items are left out of a page', () => {
  test.each<[string, string, string, number, unknown]>([
    ['all of them', `{"data":[${ONE},${TWO}],"next":"c"}`, 'data', 2, { data: [], next: 'c' }],
    ['and others stay', `{"data":[${ONE},{"n":3}],"next":null}`, 'data', 1, { data: [{ n: 3 }], next: null }],
    ['after other members', `{"count":2,"data": [${ONE}]}`, 'data', 1, { count: 2, data: [] }],
    ['of a page that is an array', `[${ONE},${TWO}]`, '', 2, []],
    ['of a list within an object', `{"page":{"data":[${ONE}],"n":1}}`, 'page.data', 1, { page: { data: [], n: 1 } }],
  ])('%s', (_words, body, items, count, value) => {
    expect(read(body, items)).toEqual({ known: count, value });
  });
});

describe('a page is read as a whole', () => {
  test.each<[string, string]>([
    ['where the list stands twice', `{"data":[${ONE}],"data":[]}`],
    ['where another list comes first', `{"other":[${ONE}],"data":[{"n":3}]}`],
    ['where the list is empty, and another is not', `{"data":[],"other":[${ONE}]}`],
    ['where the list has had an item before', `{"data":[{}],"other":[${ONE}]}`],
    ['where it seems to begin within a text', `{"note":"[{","data":[${ONE}]}`],
    ['where items are set apart', `{"data":[${ONE} ,${TWO}]}`],
    ['where it is ambiguous otherwise', `{"data":[${ONE}],"a":1,"a":2}`],
  ])('%s', (_words, body) => {
    expect(read(body)).toEqual({ known: 0, value: JSON.parse(body) });
  });

  test.each<[string, string]>([
    ['a comma after the last item', `{"data":[${ONE},]}`],
    ['something else than an item', `{"data":[${ONE}x]}`],
    ['no end', `{"data":[${ONE},${TWO}`],
    ['no end of the document', `{"data":[${ONE},${TWO}]`],
  ])('%s is no JSON, whatever is known of it', (_words, body) => {
    expect(read(body)).toEqual({ known: 0, value: 'it is not JSON' });
  });
});

test('what was known of one page is not of the next', () => {
  const reader = new PageReader(list('data'), known);
  reader.read(Buffer.from(`{"data":[${ONE}]}`));
  expect(reader.known).toBe(1);
  reader.read(Buffer.from('{"data":[{"n":9}]}'));
  expect(reader.known).toBe(0);
});
