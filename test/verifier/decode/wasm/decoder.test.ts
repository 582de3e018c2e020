import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../../../src/core/digest.ts';
import { SpareMemory } from '../../../../src/core/spare-memory.ts';
import { WasmDecoder } from '../../../../src/verifier/decode/wasm/decoder.ts';
import { FLAG } from '../../../../src/verifier/model/batch.ts';
import type { RecipeProgram } from '../../../../src/verifier/recipe/recipe-program.ts';
import {
  chainOf,
  entryAfter,
  GENESIS,
  KEYS,
  SEAL_KEY,
  type SentEntry,
  STREAM,
  sealed,
} from '../../../support/chain.ts';
import { type ComparedDecoders, rowsOf } from '../compared.ts';
import { decoders, disagreement, judge, PROGRAM } from './default-chain.ts';

const toBytes = (entries: readonly SentEntry[], space?: number) =>
  Buffer.from(JSON.stringify(entries, null, space).slice(1));
const shuffled = (entry: SentEntry, by: number) => {
  const members = Object.entries(entry);
  return Object.fromEntries(members.map((_, i) => members[(i * 5 + by) % members.length] ?? ['', 0])) as SentEntry;
};

const chain = chainOf(300).map((entry, index) => shuffled(entry, index % 7 === 0 ? 3 : 0));

test('a chain is taken, whatever the order of its members and the size of the blocks', () => {
  const whole = decoders().taken(toBytes(chain));
  expect(whole.rows.map(({ digest }) => digest)).toEqual(chain.map(({ hash }) => hash));
  expect(whole.rows.map(({ previous }) => previous)).toEqual(chain.map(({ prev_hash }) => prev_hash));
  expect(whole.rows.map(({ flags }) => flags & FLAG.first)).toEqual(chain.map((_, index) => (index === 0 ? 1 : 0)));
  expect(whole.stop).toBe('closed');
  expect(disagreement(whole)).toBe(null);
  for (const size of [1021, 4096, 65_536]) expect(decoders().taken(toBytes(chain), size)).toEqual(whole);
});

test('an array is read the same, cut at every offset, and byte by byte', () => {
  for (const bytes of [toBytes(chain.slice(0, 3)), toBytes(chain.slice(0, 3), 1)]) {
    const both = decoders();
    const whole = both.taken(bytes);
    expect(whole).toMatchObject({ stop: 'closed', rows: { length: 3 } });
    for (let size = 1; size <= bytes.length; size++) expect(both.taken(bytes, size)).toEqual(whole);
  }
});

test('what is said of entries depends on their bytes alone: it is the same from each of them on, in any order', () => {
  const { decoder } = decoders();
  const bytes = toBytes(chain.slice(0, 40));
  const starts: number[] = [];
  const rowsFrom = (at: number, limit: number) => {
    decoder.input.set(bytes);
    const { columns } = decoder.run(at, bytes.length, limit, 'next');
    if (starts.length === 0) starts.push(...(columns?.starts ?? []));
    return columns === null ? [] : rowsOf(decoder.toBatch(columns));
  };
  const whole = rowsFrom(0, bytes.length);
  expect(whole).toHaveLength(40);
  for (const [index, at] of [...starts.entries()].toReversed()) {
    expect(rowsFrom(at, bytes.length)).toEqual(whole.slice(index));
    expect(rowsFrom(at, at + 1)).toEqual(whole.slice(index, index + 1));
    expect(rowsFrom(at, at)).toEqual([]);
  }
});

const vectors = join(import.meta.dirname, '../../../vectors/chain');
const expected: { seal_keys: Record<string, string>; cases: Record<string, unknown> } = JSON.parse(
  readFileSync(join(vectors, 'expected.json'), 'utf8'),
);

/** Takes all entries of an array; counts and skips each entry that the fast decoder leaves. */
function takeAround(both: ComparedDecoders, array: Buffer) {
  const rows: ReturnType<typeof rowsOf> = [];
  let left = 0;
  for (let rest = array; ; ) {
    const taken = both.taken(rest);
    expect(both.disagreement(taken)).toBe(null);
    rows.push(...taken.rows);
    const next = rest.indexOf('{"entry_id"', taken.offset);
    if (taken.stop !== 'unsure' || next === -1) return { rows, left };
    left++;
    const behind = rest.indexOf('{"entry_id"', next + 1);
    if (behind === -1) return { rows, left };
    rest = rest.subarray(behind);
  }
}

describe.each(Object.keys(expected.cases))('vector %s', (name) => {
  const text = readFileSync(join(vectors, `${name}.json`), 'latin1');
  const array = Buffer.from(text.slice(text.indexOf('[', text.indexOf('"entries"')) + 1), 'latin1');
  const streamId = text.match(/"stream_id":\s*"([^"]*)"/)?.[1] ?? '';
  const keys = new Map(
    Object.entries(expected.seal_keys).map(([id, key]) => [id, toHmacKey(Buffer.from(key))] as const),
  );
  const both = decoders({ streamId, keys });

  test('what is taken is what the reference decoder says of it', () => {
    expect(both.disagreement(both.taken(array))).toBe(null);
  });

  test('is read the same in blocks of any size', () => {
    const whole = both.taken(array);
    for (const size of [1, 2, 3, 61, 509, 1021, 65_536]) expect(both.taken(array, size)).toEqual(whole);
  });
});

test('entries out of order, twice, forked or with gaps are taken: the fold judges them', () => {
  const moved = [...chainOf(20), ...chainOf(30).slice(3, 9).reverse(), ...chainOf(5)];
  expect(decoders().taken(toBytes(moved))).toMatchObject({ stop: 'closed', rows: { length: 31 } });
});

test('after an entry that is left, it goes on', () => {
  let last: SentEntry | null = null;
  const entries = Array.from({ length: 500 }, (_, index) => {
    last = entryAfter(
      last,
      index % 50 === 7 ? { metadata: 1e-7 } : index % 50 === 8 ? { metadata: { '\u{10000}': 1 } } : {},
    );
    return last;
  });
  const { rows, left } = takeAround(decoders(), toBytes(entries));
  expect([rows.length, left]).toEqual([480, 20]);
});

test('a wrong digest or seal is taken: what the entry says, and what was computed, each by itself', () => {
  for (const place of [0, 1, 126, 127, 128, 299])
    for (const fault of [{ actor: 'mallory' }, { hash: '0'.repeat(64) }, { seal: '0'.repeat(64) }]) {
      const entry = { ...chain[place], ...fault } as SentEntry;
      const { rows, stop } = decoders().taken(toBytes(chain.with(place, entry)));
      expect([rows.length, stop]).toEqual([300, 'closed']);
      expect(rows[place]).toMatchObject({ previous: entry.prev_hash, digest: entry.hash, seal: entry.seal });
      const right = sealed(entry);
      const seal = createHmac('sha256', SEAL_KEY).update(entry.hash).digest('hex');
      expect(rows[place]).toMatchObject({ computed: right.hash, computedSeal: seal });
    }
});

test('of an entry that is left, nothing is noted as unhashed, and no key as used', () => {
  const program: RecipeProgram = { ...PROGRAM, seal: null, fields: ['sequence', 'prev_hash'], without: ['hash'] };
  const both = decoders({ program });
  const entryOf = (sequence: number, more: object) => {
    const content = { sequence, prev_hash: GENESIS };
    const hash = createHash('sha256')
      .update(canonicalize(content) ?? '')
      .digest('hex');
    const { stream_id, timestamp, entry_id } = chain[0] as SentEntry;
    return { stream_id, timestamp, entry_id, ...content, ...more, hash };
  };
  const entries = [entryOf(1, { a: 1 }), entryOf(2, { b: 1 }), { ...entryOf(3, { c: 1 }), hash: 'F'.repeat(64) }];
  const taken = both.taken(Buffer.from(JSON.stringify(entries).slice(1)));
  expect(taken).toMatchObject({ stop: 'unsure', rows: { length: 2 } });
  expect(taken.unhashed.map((text) => JSON.parse(text).path)).toEqual([
    ['stream_id'],
    ['timestamp'],
    ['entry_id'],
    ['a'],
    ['b'],
  ]);
});

test('more things unhashed than there is room for are left', () => {
  const program: RecipeProgram = { ...PROGRAM, seal: null, fields: ['sequence', 'prev_hash'], without: ['hash'] };
  const both = decoders({ program });
  const content = { sequence: 1, prev_hash: GENESIS };
  const hash = createHash('sha256')
    .update(canonicalize(content) ?? '')
    .digest('hex');
  const { stream_id, timestamp, entry_id } = chain[0] as SentEntry;
  const entries = Array.from({ length: 10 }, (_, index) => ({
    stream_id,
    timestamp,
    entry_id,
    ...content,
    ...Object.fromEntries(Array.from({ length: 20 }, (_row, at) => [`m${index}-${at}`, 0])),
    hash,
  }));
  const taken = both.taken(Buffer.from(JSON.stringify(entries).slice(1)));
  expect(taken).toMatchObject({ stop: 'unsure', rows: { length: 3 } });
  expect(taken.unhashed).toHaveLength(63);
});

test('entries may lack what no role is given to', () => {
  const roles = { ...PROGRAM.roles, streamId: null, timestamp: null, entryId: null };
  const bare = (sequence: number, prev_hash: string) => {
    const content = { sequence, prev_hash };
    return {
      ...content,
      hash: createHash('sha256')
        .update(canonicalize(content) ?? '')
        .digest('hex'),
    };
  };
  const zero = bare(0, GENESIS);
  const bytes = Buffer.from(JSON.stringify([zero, bare(1, zero.hash), bare(3, zero.hash)]).slice(1));
  const program = { ...PROGRAM, roles, seal: null, without: ['hash'], firstSequence: 0 };
  const { rows, stop } = decoders({ program }).taken(bytes);
  expect([rows.map(({ sequence }) => sequence), stop]).toEqual([[0, 1, 3], 'closed']);
  expect(rows.map(({ timestamp, time }) => [timestamp, time])).toEqual(Array(3).fill(['', Number.NaN]));
});

test('a copy of the entries of a run says the same after the next run, until it is released', () => {
  const { decoder } = decoders();
  const bytes = toBytes(chain);
  const batchOf = (start: number, end: number) => {
    const { columns } = decoder.run(start, end, end, 'first');
    if (columns === null) throw new Error('there are entries');
    return decoder.toBatch(columns);
  };
  decoder.input.set(bytes, 7);
  const batch = batchOf(7, 20_000);
  const before = rowsOf(batch).slice(3, 13);
  const memory = new SpareMemory(1);
  // Memory with arbitrary content.
  memory.giveBack(new Uint8Array(200_000).fill(0xff));
  const copy = batch.keep(3, 13, memory);
  const [first, last] = [batch.sent(3), batch.sent(12)];
  expect(copy.bytes.length).toBe(last.byteOffset + last.length - first.byteOffset);
  decoder.input.set(toBytes(chain.slice(100)));
  batchOf(0, 20_000);
  const read = Array.from({ length: copy.count }, (_, index) => ({
    sequence: copy.sequence(index),
    digest: copy.digest(index),
    timestamp: copy.timestamp(index),
    text: Buffer.from(copy.bytes.subarray(copy.start(index), copy.end(index))).toString('latin1'),
  }));
  expect(read).toEqual(before.map(({ sequence, digest, timestamp, text }) => ({ sequence, digest, timestamp, text })));
  copy.release();
  expect(() => copy.digest(0)).toThrow('there is no such entry');
  expect(memory.take(200_000)[0]).not.toBe(0xff);
  copy.release();
  expect(memory.take(1).length).toBeLessThan(200_000);
});

test('seals are not looked at without keys, and not taken with other ones', () => {
  const bytes = toBytes(chain.slice(0, 2).map(({ seal: _seal, ...entry }) => entry as SentEntry));
  expect(decoders({ keys: new Map() }).taken(bytes).rows).toHaveLength(2);
  expect(decoders().taken(bytes).rows).toHaveLength(0);
  const other = decoders({ keys: new Map([['k2', toHmacKey(Buffer.from(SEAL_KEY))]]) });
  expect(other.taken(toBytes(chain)).rows).toHaveLength(0);
});

test.each([
  ['a seal', chain[1]?.seal, true],
  ['no seal', null, true],
  ['capitals', chain[1]?.seal?.toUpperCase(), false],
  ['a letter that is no digit', chain[1]?.seal?.replace(/.$/, 'g'), false],
  ['one digit less', chain[1]?.seal?.slice(1), false],
  ['a number', 7, false],
])('without keys, an entry is taken if its seal has the form of one: %s', (_name, seal, isTaken) => {
  const both = decoders({ keys: new Map() });
  const taken = both.taken(toBytes([chain[0], { ...chain[1], seal }] as SentEntry[]));
  expect(taken.rows).toHaveLength(isTaken ? 2 : 1);
  expect(both.disagreement(taken)).toBe(null);
});

test('an entry may be as large as the input, and no larger', () => {
  const both = decoders();
  const { length } = both.decoder.input;
  const entryOf = (bytes: number) => {
    const empty = entryAfter(null, { metadata: '' });
    return toBytes([entryAfter(null, { metadata: 'x'.repeat(bytes - Buffer.byteLength(JSON.stringify(empty))) })]);
  };
  expect(both.taken(entryOf(length)).rows).toHaveLength(1);
  expect(both.taken(entryOf(length + 1))).toMatchObject({ stop: 'unsure', rows: { length: 0 } });
});

test('after it is disposed of nothing is left of the keys, and the memory serves another chain', () => {
  // Memory that depends on the key differs between two keys.
  const memoryAfter = (key: string) => {
    const { decoder } = decoders({ keys: new Map([['k1', toHmacKey(Buffer.from(key))]]) });
    const during = Buffer.from(decoder.input.buffer.slice(0));
    decoder[Symbol.dispose]();
    return { during, after: Buffer.from(decoder.input.buffer.slice(0)), buffer: decoder.input.buffer };
  };
  const [one, other] = [memoryAfter(SEAL_KEY), memoryAfter('another key')];
  expect(other.buffer).toBe(one.buffer);
  expect(one.during.equals(other.during)).toBe(false);
  expect(one.after.equals(other.after)).toBe(true);
  const next = decoders();
  expect(next.decoder.input.buffer).toBe(one.buffer);
  expect(next.taken(toBytes(chain)).rows).toHaveLength(300);
  next.decoder[Symbol.dispose]();
  expect(() => next.taken(toBytes(chain))).toThrow('closed');
});

test('there is none for member names and stream ids that it cannot hold, and no memory is lost by that', () => {
  const open = (more: Partial<RecipeProgram>, streamId = STREAM) =>
    WasmDecoder.open({ program: { ...PROGRAM, ...more }, streamId, keys: KEYS, depth: 2 }, () => {
      throw new Error('nothing is read');
    });
  using first = open({});
  const buffer = first?.input.buffer;
  first?.[Symbol.dispose]();
  expect(open({ roles: { ...PROGRAM.roles, digest: ['ha"sh'] } })).toBe(null);
  expect(open({ without: ['x'.repeat(257)] })).toBe(null);
  expect(open({}, 'x'.repeat(5000))).toBe(null);
  using next = open({});
  expect(next?.input.buffer).toBe(buffer);
});

test('whatever is mutated, it is taken only where the reference decoder says the same, and finds nothing unusual', () => {
  const intact = chain.slice(0, 4);
  const member = fc.constantFrom(...Object.keys(intact[0] ?? {}), 'added', '__proto__', '');
  const value = fc.oneof(
    fc.jsonValue(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: 0, max: 6 }),
    fc.constantFrom('k1', null, [], {}),
  );
  const edit = fc.tuple(fc.nat(3), member, value, fc.boolean()).map(([index, name, written, reseal]) => {
    const edited = Object.fromEntries([...Object.entries(intact[index] ?? {}), [name, written]]) as SentEntry;
    return intact.with(index, reseal ? sealed(edited) : edited);
  });
  let count = 0;
  fc.assert(
    fc.property(edit, fc.constantFrom(undefined, 1), (entries, space) => {
      const taken = judge(toBytes(entries, space).toString('latin1'));
      count += taken.rows.length;
      expect(disagreement(taken)).toBe(null);
    }),
    { numRuns: 4000 },
  );
  expect(count).toBeGreaterThan(4000);
});
