import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../../src/core/digest.ts';
import { PackageReader, type PackageReading } from '../../../src/verifier/chain/package.ts';
import type { Stretch } from '../../../src/verifier/chain/stretch.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { chainOf, entryAfter, KEYS, packageOf, type SentEntry, STREAM } from '../../support/chain.ts';
import { readInRanges, stretchIn } from '../../support/ranges.ts';
import { someRows } from '../../support/some-rows.ts';

const chain = chainOf(12);
const bytes = Buffer.from(JSON.stringify(packageOf(chain)));
/** Of the entry with a number, the offset of its first byte. */
const startOf = (sequence: number, of = bytes) => of.indexOf(`{"entry_id":"e-${sequence}"`);

const open = (watch: number[] = [], keys = KEYS) =>
  new PackageReader(defaultContract, keys, { streamId: STREAM, watch: () => watch, dated: () => [DATED] });
const timeOf = (sequence: number) => Date.parse(chain[sequence - 1]?.timestamp ?? '');
/** What entry 8 answers. */
const DATED = { name: 'a period', from: timeOf(6), to: timeOf(10), known: [{ from: 0, to: 7 }] };

function plain({ walk, facts, defect }: PackageReading) {
  return { ...walk, findings: walk.findings.list(), total: walk.findings.total(), facts, defect };
}

function readWhole(of: Buffer, watch: number[] = [], keys = KEYS) {
  const reader = open(watch, keys);
  reader.push(of);
  return plain(reader.finish());
}

/** Reads up to an offset, offers a stretch, and reads on behind it or, if it was not taken, from there. */
function offer(stretch: Stretch, at: number, of = bytes) {
  const reader = open([7, 8]);
  reader.push(of.subarray(0, at));
  const taken = reader.take(stretch);
  reader.push(of.subarray(taken ? stretch.end : at));
  return { taken, reading: plain(reader.finish()) };
}

/** The stretch that begins with the sixth entry, of a package that is read with these keys. */
function stretchFrom(start: number, end: number, of = bytes) {
  const reader = open([7, 8]);
  reader.push(of.subarray(0, startOf(3, of)));
  const stretch = stretchIn(reader, of, start, end);
  reader.finish();
  if (stretch === null) throw new Error('there is no stretch');
  return stretch;
}

describe('a stretch', () => {
  const stretch = stretchFrom(startOf(5) + 1, startOf(10) + 30);

  test('goes from the first entry that begins in a range to the last that ends in it', () => {
    expect(stretch).toMatchObject({
      start: startOf(6),
      end: startOf(10),
      place: 'next',
      assumed: { sequence: 5, digest: chain[4]?.hash },
      count: 4,
      firstTime: Date.parse(chain[5]?.timestamp ?? ''),
      tip: { sequence: 9, digest: chain[8]?.hash, time: Date.parse(chain[8]?.timestamp ?? '') },
    });
    expect(Buffer.from(stretch.digests).toString('hex')).toBe(
      chain
        .slice(5, 9)
        .map(({ hash }) => hash)
        .join(''),
    );
    expect([...stretch.dated]).toEqual([[DATED.name, { sequence: 8, time: timeOf(8) }]]);
    expect([...stretch.watched]).toEqual(
      [7, 8].map((at) => [at, { digest: chain[at - 1]?.hash, timestamp: chain[at - 1]?.timestamp }]),
    );
  });

  test('is taken where the walk arrives at it, and nothing shows that it was', () => {
    expect(offer(stretch, startOf(6))).toEqual({ taken: true, reading: readWhole(bytes, [7, 8]) });
    const touching = stretchFrom(startOf(6), startOf(7) - 1);
    expect(touching).toMatchObject({ place: 'after', count: 1 });
    expect(offer(touching, startOf(6))).toEqual({ taken: true, reading: readWhole(bytes, [7, 8]) });
  });

  const digest = 'a'.repeat(64);
  test.each<[string, Partial<Stretch>]>([
    ['begins a byte early', { start: stretch.start - 1 }],
    ['begins a byte late', { start: stretch.start + 1 }],
    ['begins behind the end of the file', { start: bytes.length + 5, end: bytes.length + 9 }],
    ['follows another number', { assumed: { ...stretch.assumed, sequence: 4 } }],
    ['follows another digest', { assumed: { ...stretch.assumed, digest } }],
    ['begins at an earlier time than the tip', { firstTime: Date.parse(chain[4]?.timestamp ?? '') - 1 }],
    ['has no time, where entries have one', { firstTime: Number.NaN }],
    ['leaves open what the walk knows nothing of', { uncovered: new Set(['actor']) }],
  ])('that %s is left', (_words, wrong) => {
    expect(offer({ ...stretch, ...wrong }, startOf(6))).toEqual({ taken: false, reading: readWhole(bytes, [7, 8]) });
  });

  test('may begin at the very time of the tip', () => {
    const firstTime = Date.parse(chain[4]?.timestamp ?? '');
    expect(offer({ ...stretch, firstTime }, startOf(6)).taken).toBe(true);
  });

  test.each([
    ['before its entry', startOf(5)],
    ['a byte before it', startOf(6) - 1],
    ['a byte behind its beginning', startOf(6) + 1],
    ['behind it', startOf(10)],
  ])('is left by a walk that has come %s', (_words, at) => {
    expect(offer(stretch, at)).toEqual({ taken: false, reading: readWhole(bytes, [7, 8]) });
  });

  test('of a chain that was cut out and put into another place is left', () => {
    const moved = Buffer.from(JSON.stringify(packageOf(chain.toSpliced(4, 1))));
    const later = stretchFrom(startOf(6, moved), moved.length, moved);
    expect(later.count).toBe(7);
    expect(offer(later, startOf(6, moved), moved)).toEqual({ taken: false, reading: readWhole(moved, [7, 8]) });
  });

  test('of a chain whose clock went back just there is left', () => {
    const early = [...chain.slice(0, 5)];
    while (early.length < 12) early.push(entryAfter(early.at(-1) ?? null, { timestamp: '2020-01-01T00:00:00.000Z' }));
    const back = Buffer.from(JSON.stringify(packageOf(early)));
    const reading = readWhole(back, [7, 8]);
    expect(reading.findings).toMatchObject([{ code: 'order/clock-backwards', sequence: 6 }]);
    expect(offer(stretchFrom(startOf(6, back), back.length, back), startOf(6, back), back)).toEqual({
      taken: false,
      reading,
    });
  });

  test('is left once the document has ended or is broken, and where entries are to be seen one by one', () => {
    const ended = open();
    ended.push(bytes);
    expect(ended.take({ ...stretch, start: bytes.length, assumed: { sequence: 12, digest } })).toBe(false);
    for (const [at, byte] of [
      [startOf(6) - 1, ' '],
      [startOf(6) - 2, ']'],
      [startOf(5) - 2, ']'],
      [startOf(5), '"'],
    ] as const) {
      const broken = Buffer.from(bytes);
      broken[at] = byte.charCodeAt(0);
      expect(offer(stretch, startOf(6), broken)).toEqual({ taken: false, reading: readWhole(broken, [7, 8]) });
    }
    const stuck = open();
    stuck.push(bytes.subarray(0, startOf(6)));
    stuck.take({ ...stretch, start: 0 });
    stuck.push(Buffer.from('x'));
    expect(stuck.take(stretch)).toBe(false);
    const seen: number[] = [];
    const watcher = new PackageReader(defaultContract, KEYS, {
      streamId: STREAM,
      onEntry: ({ sequence }) => seen.push(sequence),
    });
    watcher.push(bytes.subarray(0, startOf(6)));
    expect([watcher.findStretches(), watcher.take(stretch)]).toEqual([null, false]);
  });

  test('tells a duplicate from a fork among what it holds, as far back as a walk does', () => {
    const long = chainOf(4200);
    const again = long.map((entry, at) => (at % 2 === 0 ? entry : { ...entry, actor: 'another' }));
    const repeated = [...long, ...again.slice(100, 110), ...again.slice(4190)];
    const all = Buffer.from(JSON.stringify(packageOf(repeated)));
    const reader = open();
    const taken = readInRanges(reader, all, [startOf(3, all), startOf(4180, all)]);
    expect(taken).toBeGreaterThan(4190);
    expect(plain(reader.finish())).toEqual(readWhole(all));
  });
});

/** A look-alike of an entry, in the metadata of another; `true` digest and all, so that a kernel takes it. */
const decoy = (sequence: number) => entryAfter({ ...(chain[0] as SentEntry), sequence: sequence - 1 });
const AROUND: [string, SentEntry[], number][] = [
  ['entries', chain.slice(0, 3), 1],
  [
    'look-alikes within entries',
    withMetadata((sequence) => ({ copy: decoy(sequence), list: [decoy(sequence + 1)] })),
    5,
  ],
  ['the text of entries within strings', withMetadata((sequence) => `},${JSON.stringify(decoy(sequence))},{`), 5],
  ['many small objects', withMetadata(() => Array.from({ length: 30 }, () => ({}))), 5],
];

function withMetadata(metadata: (sequence: number) => unknown): SentEntry[] {
  const entries: SentEntry[] = [];
  while (entries.length < 4)
    entries.push(entryAfter(entries.at(-1) ?? null, { metadata: metadata(entries.length + 1) }));
  return entries;
}

describe.each(AROUND)('a package of %s', (_words, entries, step) => {
  test.each(someRows([0, 1], () => 'read'))(
    `is read the same at whichever ${step}. offset a range begins (indented by %i)`,
    (space) => {
      const sent = Buffer.from(JSON.stringify(packageOf(entries), null, space));
      const whole = readWhole(sent, [2, 3]);
      expect(whole.findings).toEqual([]);
      let taken = 0;
      const all = Array.from({ length: Math.ceil(sent.length / step) }, (_, index) => index * step);
      // One of each seven: over several entries that is anywhere in one.
      const offsets = someRows(all, (offset) => Math.floor(offset / (7 * step)));
      for (const offset of offsets) {
        const reader = open([2, 3]);
        taken += readInRanges(reader, sent, [offset]);
        expect(plain(reader.finish())).toEqual(whole);
      }
      expect(taken).toBeGreaterThan(offsets.length / 4);
    },
  );
});

const vectors = join(import.meta.dirname, '../../vectors/chain');
const expected: { seal_keys: Record<string, string>; cases: Record<string, unknown> } = JSON.parse(
  readFileSync(join(vectors, 'expected.json'), 'utf8'),
);
const vectorKeys = new Map(
  Object.entries(expected.seal_keys).map(([id, key]) => [id, toHmacKey(Buffer.from(key))] as const),
);

test.each(Object.keys(expected.cases))('the vector %s is read the same in two, three and five ranges', (name) => {
  const sent = readFileSync(join(vectors, `${name}.json`));
  const read = (splits: number[]) => {
    const reader = new PackageReader(defaultContract, vectorKeys);
    readInRanges(reader, sent, splits);
    return plain(reader.finish());
  };
  const whole = read([]);
  for (const count of someRows([3, 2, 5], () => 'ranges'))
    expect(read(Array.from({ length: count - 1 }, (_, at) => Math.floor(((at + 1) * sent.length) / count)))).toEqual(
      whole,
    );
  // At each entry, and the byte behind its beginning.
  const digests = [...sent.toString('latin1').matchAll(/"hash"/g)].map(({ index }, number) => ({ at: index, number }));
  for (const { at } of someRows(digests, ({ number }) => Math.floor(number / 6)))
    for (const split of [sent.lastIndexOf('{', at), sent.lastIndexOf('{', at) + 1])
      expect(read([split])).toEqual(whole);
});
