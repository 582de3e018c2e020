import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../../src/core/digest.ts';
import { PackageReader, type PackageReading, type Segment } from '../../../src/verifier/chain/package.ts';
import { statedDigest } from '../../../src/verifier/model/batch.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { chainOf, entryAfter, KEYS, packageOf, type SentEntry, STREAM } from '../../support/chain.ts';
import { readInRanges, segmentIn } from '../../support/ranges.ts';
import { someRows } from '../../support/some-rows.ts';

const chain = chainOf(12);
const bytes = Buffer.from(JSON.stringify(packageOf(chain)));
/** Returns the offset of the first byte of an entry. */
const startOf = (sequence: number, of = bytes) => of.indexOf(`{"entry_id":"e-${sequence}"`);

const open = (watch: number[] = [], keys = KEYS) =>
  new PackageReader(defaultContract, keys, { streamId: STREAM, watch: () => watch, dated: () => [DATED] });
const timeOf = (sequence: number) => Date.parse(chain[sequence - 1]?.timestamp ?? '');
/** A dated question that entry 8 answers. */
const DATED = { name: 'a period', from: timeOf(6), to: timeOf(10), known: [{ from: 0, to: 7 }] };

function plain({ walk, facts, defect }: PackageReading) {
  return { ...walk, findings: walk.findings.list(), total: walk.findings.total(), facts, defect };
}

function readWhole(of: Buffer, watch: number[] = [], keys = KEYS) {
  const reader = open(watch, keys);
  reader.push(of);
  return plain(reader.finish());
}

/** Reads up to an offset, offers a segment, and continues after it, or at the offset if the reader did not take it. */
function offer(segment: Segment, at: number, of = bytes) {
  const reader = open([7, 8]);
  reader.push(of.subarray(0, at));
  const taken = reader.splice(segment);
  reader.push(of.subarray(taken ? segment.end : at));
  return { taken, reading: plain(reader.finish()) };
}

/** Returns the segment of the entries that begin in a range. */
function segmentOf(start: number, end: number, of = bytes) {
  const reader = open([7, 8]);
  reader.push(of.subarray(0, startOf(3, of)));
  const segment = segmentIn(reader, of, start, end);
  if (segment === null) throw new Error('there is no segment');
  return segment;
}

describe('a segment', () => {
  const segment = () => segmentOf(startOf(5) + 1, startOf(9) + 30);

  test('has the entries that begin in its range, the last one whole', () => {
    const { batch, ...place } = segment();
    expect(place).toEqual({ start: startOf(6), end: startOf(10), place: 'next' });
    expect([...batch.sequences]).toEqual([6, 7, 8, 9]);
    expect([0, 1, 2, 3].map((index) => statedDigest(batch, index))).toEqual(chain.slice(5, 9).map(({ hash }) => hash));
    expect([0, 1, 2, 3].map((index) => batch.timestamp(index))).toEqual(
      chain.slice(5, 9).map(({ timestamp }) => timestamp),
    );
  });

  test('is taken where the reader arrives at it, and nothing shows that it was', () => {
    expect(offer(segment(), startOf(6))).toEqual({ taken: true, reading: readWhole(bytes, [7, 8]) });
    const touching = segmentOf(startOf(6), startOf(7));
    expect([...touching.batch.sequences]).toEqual([6]);
    expect(offer(touching, startOf(6))).toEqual({ taken: true, reading: readWhole(bytes, [7, 8]) });
  });

  test('shows the texts that were decoded, whatever becomes of the package', () => {
    const file = Buffer.from(bytes);
    const { batch } = segmentOf(startOf(5) + 1, startOf(9) + 30, file);
    file.fill(' ');
    for (const [index, entry] of chain.slice(5, 9).entries()) {
      expect(Buffer.from(batch.sent(index)).toString()).toBe(JSON.stringify(entry));
      expect(batch.timestamp(index)).toBe(entry.timestamp);
      expect(batch.entry(index).words().actor).toBe(entry['actor']);
    }
  });

  test.each<[string, number]>([
    ['begins a byte early', startOf(6) - 1],
    ['begins a byte late', startOf(6) + 1],
    ['begins after the end of the file', bytes.length + 5],
  ])('that %s is left', (_words, start) => {
    expect(offer({ ...segment(), start }, startOf(6))).toEqual({ taken: false, reading: readWhole(bytes, [7, 8]) });
  });

  test.each([
    ['before its entry', startOf(5)],
    ['a byte before it', startOf(6) - 1],
    ['a byte after its beginning', startOf(6) + 1],
    ['after it', startOf(10)],
  ])('is left by a reader that has come %s', (_words, at) => {
    expect(offer(segment(), at)).toEqual({ taken: false, reading: readWhole(bytes, [7, 8]) });
  });

  test('of a chain that was cut out and put into another place is judged like the rest', () => {
    const moved = Buffer.from(JSON.stringify(packageOf(chain.toSpliced(4, 1))));
    const reading = readWhole(moved, [7, 8]);
    expect(reading.findings).toMatchObject([{ code: 'order/gap', from: 5, to: 5 }]);
    expect(offer(segmentOf(startOf(6, moved), moved.length, moved), startOf(6, moved), moved)).toEqual({
      taken: true,
      reading,
    });
  });

  test('of a chain whose clock went back just there is judged like the rest', () => {
    const early = [...chain.slice(0, 5)];
    while (early.length < 12) early.push(entryAfter(early.at(-1) ?? null, { timestamp: '2020-01-01T00:00:00.000Z' }));
    const back = Buffer.from(JSON.stringify(packageOf(early)));
    const reading = readWhole(back, [7, 8]);
    expect(reading.findings).toMatchObject([{ code: 'order/clock-backwards', sequence: 6 }]);
    expect(offer(segmentOf(startOf(6, back), back.length, back), startOf(6, back), back)).toEqual({
      taken: true,
      reading,
    });
  });

  test('is left once the document has ended or is broken', () => {
    const ended = open();
    ended.push(bytes);
    expect(ended.splice({ ...segment(), start: bytes.length })).toBe(false);
    for (const [at, byte] of [
      [startOf(6) - 1, ' '],
      [startOf(6) - 2, ']'],
      [startOf(5) - 2, ']'],
      [startOf(5), '"'],
    ] as const) {
      const broken = Buffer.from(bytes);
      broken[at] = byte.charCodeAt(0);
      expect(offer(segment(), startOf(6), broken)).toEqual({ taken: false, reading: readWhole(broken, [7, 8]) });
    }
    const stuck = open();
    stuck.push(bytes.subarray(0, startOf(6)));
    stuck.splice({ ...segment(), start: 0 });
    stuck.push(Buffer.from('x'));
    expect(stuck.splice(segment())).toBe(false);
  });

  test('tells a duplicate from a fork among what it holds, as far back as a walk does', () => {
    const long = chainOf(4200);
    const again = long.map((entry, at) => (at % 2 === 0 ? entry : { ...entry, actor: 'another' }));
    const repeated = [...long, ...again.slice(100, 110), ...again.slice(4190)];
    const all = Buffer.from(JSON.stringify(packageOf(repeated)));
    const reader = open();
    const splits = Array.from({ length: 5 }, (_, part) => startOf(3 + part * 800, all));
    expect(readInRanges(reader, all, splits)).toBeGreaterThan(4180);
    expect(plain(reader.finish())).toEqual(readWhole(all));
  });
});

/**
 * Returns an imitation of an entry for another entry's metadata, with a correct digest, so that a decoder accepts it.
 */
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
      // One offset of seven, so that offsets fall anywhere within entries.
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
  // Splits at the first byte of each entry, and at the byte after.
  const digests = [...sent.toString('latin1').matchAll(/"hash"/g)].map(({ index }, number) => ({ at: index, number }));
  for (const { at } of someRows(digests, ({ number }) => Math.floor(number / 6)))
    for (const split of [sent.lastIndexOf('{', at), sent.lastIndexOf('{', at) + 1])
      expect(read([split])).toEqual(whole);
});
