import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sha256 } from '../../../src/core/digest.ts';
import { RowMap } from '../../../src/core/rows/map.ts';
import { streamMapOf } from '../../../src/verifier/ledger/ledger.ts';
import type { LongFormat } from '../../../src/verifier/model/schemas.ts';
import { readLongRecord } from '../../../src/verifier/records/long-record.ts';
import { recordPieces } from '../../../src/verifier/records/record-bytes.ts';

const row = z.strictObject({ id: z.string(), n: z.number(), inner: z.array(z.strictObject({ id: z.string() })) });
const FORMAT: LongFormat<object> = {
  schema: z.strictObject({
    name: z.string(),
    holder: z.strictObject({ pages: z.array(z.string()), rows: z.array(row) }),
    rows: z.array(row),
    map: streamMapOf(row.nullable()),
    end: z.null(),
  }),
  maxBytes: 10_000_000,
  long: [
    { path: ['holder', 'rows'], kind: 'list', schema: row },
    { path: ['rows'], kind: 'list', schema: row },
    { path: ['map'], kind: 'map', schema: row.nullable() },
  ],
};

const rowOf = (n: number) => ({
  id: `r${n} "𝕊" {\n}, [`,
  n,
  inner: n % 3 === 0 ? [] : [{ id: '    {' }, { id: `  "rows": [` }],
});
const rows = (count: number) => Array.from({ length: count }, (_, n) => rowOf(n));
const record = (count: number) => ({
  name: '  "rows": [',
  holder: { pages: ['a', '      }'], rows: rows(count) },
  rows: rows(count),
  map: RowMap.of(Array.from({ length: count }, (_, n) => [`k${n}`, n % 4 === 0 ? null : rowOf(n)])),
  end: null,
});

async function* chunksOf(text: string | Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = (text: string | Uint8Array, { size = 1000, wholeBytes = 0, format = FORMAT } = {}) =>
  readLongRecord(format, chunksOf(text, size), 'runs/r/run.json', wholeBytes);

const textOf = (value: object) => [...recordPieces(value)].join('');
/** Returns a record's content, whether its rows are in memory or in a file. */
const plain = (value: object) => JSON.parse(JSON.stringify(value));

describe.each([0, 1, 2, 50])('a record with %d rows in each member', (count) => {
  const text = textOf(record(count));

  test.each([1, 7, 1000, 1_000_000])('is the same cut in chunks of %d bytes as read whole', async (size) => {
    const [cut, whole] = [await read(text, { size }), await read(text, { size, wholeBytes: 2 ** 30 })];
    expect(plain(cut.record)).toEqual(JSON.parse(text));
    expect(plain(whole.record)).toEqual(JSON.parse(text));
    for (const one of [cut, whole]) expect(one).toMatchObject({ sha256: sha256(text), bytes: Buffer.byteLength(text) });
    expect(textOf(cut.record)).toBe(text);
    expect(textOf(whole.record)).toBe(text);
  });
});

const GOOD = textOf(record(3));
const replaced = (from: string | RegExp, to: string) => {
  const text = GOOD.replace(from, to);
  if (text === GOOD) throw new Error('nothing was replaced');
  return text;
};

test('a record in one line is read whole', async () => {
  expect(plain((await read(JSON.stringify(record(3)))).record)).toEqual(plain(record(3)));
});

describe('a record that is not as it should be is refused', () => {
  test.each<[what: string, text: string | Uint8Array]>([
    ['cut off in a row', GOOD.slice(0, 300)],
    ['cut off after a row', GOOD.slice(0, GOOD.indexOf('    },\n') + 7)],
    ['without its end', GOOD.slice(0, -3)],
    ['with more after it', `${GOOD}{}`],
    ['a row of another kind', replaced('"n": 1', '"n": "1"')],
    ['a row with a member twice', replaced('"n": 1', '"n": 1,\n "n": 1')],
    ['a row with a number that changes', replaced('"n": 1', '"n": 1.00000000000000000001')],
    ['a row with one more member', replaced('"n": 1', '"n": 1, "m": 2')],
    ['no comma between rows', replaced('\n    },\n    {', '\n    }\n    {')],
    ['a comma after the last row', replaced('\n    }\n  ],', '\n    },\n  ],')],
    ['two commas', replaced('\n    },\n    {', '\n    },,\n    {')],
    ['a row that is a list', replaced(/^ {4}\{$/m, '    [')],
    ['rows with more blanks', GOOD.replaceAll('\n    ', '\n     ')],
    ['a list twice', replaced('  "end"', '  "rows": [\n  ],\n  "end"')],
    ['a list twice, with rows', replaced('  "end"', `${/ {2}"rows": \[[\s\S]*?\n {2}\],\n/.exec(GOOD)?.[0]}  "end"`)],
    ['rows of another member', replaced(/^ {2}"holder": \{/m, '  "holder": {\n  "rows": [\n    {\n    }\n  ],')],
    ['keys not in their order', replaced('"k1"', '"k3"')],
    ['a key twice', replaced('"k1"', '"k0"')],
    ['a key that is no text', replaced('    "k1"', '    k1')],
    ['two members in the place of one', replaced('    "k0": null', '    "k0": null, "k00": null')],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from(GOOD), Buffer.from([0xff])])],
    ['a byte order mark', `\ufeff${GOOD}`],
    ['nothing', ' '],
  ])('%s', async (_what, text) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining('runs/r/run.json'),
    });
  });

  test('more bytes than one may have', async () => {
    await expect(read(GOOD, { format: { ...FORMAT, maxBytes: 100 } })).rejects.toMatchObject({
      message: 'runs/r/run.json has more than 100 bytes',
    });
  });

  test.each<[what: string, text: string, size: number]>([
    ['a line without end', ' '.repeat(9_000_000), 2 ** 20],
    ['a row without end', `  "rows": [\n    {\n${' \n'.repeat(4_500_000)}`, 2 ** 20],
  ])('%s', async (_what, text, size) => {
    await expect(read(text, { size })).rejects.toMatchObject({ message: expect.stringMatching(/more than 8388608/) });
  });
});
