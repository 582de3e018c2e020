import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../../src/core/digest.ts';
import { PackageReader, type PackageReading } from '../../../src/verifier/chain/package.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import {
  bare,
  chainOf,
  entryAfter,
  examineReading,
  KEYS,
  packageOf,
  type SentEntry,
  sealed,
} from '../../support/chain.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { someRows } from '../../support/some-rows.ts';

/** Reads a package of the whole account, with a null `stream` and entries in any order. */
function readAccount(entries: SentEntry[], size = Number.POSITIVE_INFINITY): Map<string, PackageReading> {
  const sent = { ...packageOf(entries), stream: null, first_sequence: null, last_sequence: null, head_hash: null };
  const bytes = Buffer.from(JSON.stringify(sent));
  const reader = new PackageReader(defaultContract, KEYS);
  for (let at = 0; at < bytes.length; at += size) reader.push(Uint8Array.prototype.slice.call(bytes, at, at + size));
  return new Map(reader.finishEach().map((reading) => [reading.walk.streamId, reading]));
}

const a = chainOf(30, { stream_id: 'a' });
const b = chainOf(20, { stream_id: 'b' });
const c = chainOf(1, { stream_id: 'ç' });

/** Takes an entry of each chain in turn. */
function interleave(...chains: SentEntry[][]): SentEntry[] {
  const longest = Math.max(...chains.map((chain) => chain.length));
  return Array.from({ length: longest }, (_, index) => chains.flatMap((chain) => chain[index] ?? [])).flat();
}

const statuses = (readings: Map<string, PackageReading>) =>
  Object.fromEntries([...readings].map(([id, reading]) => [id, examineReading(reading).status]));
const findings = (readings: Map<string, PackageReading>, id: string) => {
  const reading = readings.get(id);
  return reading === undefined ? ['no such stream'] : bare(examineReading(reading).findings);
};

describe.each([
  ['whole', undefined],
  ['in pieces of 997 bytes', 997],
])('an account of three interleaved streams, read %s', (_words, size) => {
  test('is verified stream by stream', () => {
    const readings = readAccount(interleave(a, b, c), size);
    expect(statuses(readings)).toEqual({ a: 'verified', b: 'verified', ç: 'verified' });
    expect([...readings.values()].map(({ walk }) => walk.entries)).toEqual([30, 20, 1]);
  });

  test.each([
    [
      'an edited entry',
      () => interleave(a, b.with(9, { ...(b[9] as SentEntry), actor: 'mallory' }), c),
      ['content/mismatch 10'],
    ],
    ['a missing one', () => interleave(a, b.toSpliced(4, 2), c), ['order/gap 5-6']],
    [
      'an entry that names one of another stream',
      () => interleave(a, [...b.slice(0, 9), entryAfter(a[9] as SentEntry, { stream_id: 'b', sequence: 10 })], c),
      ['order/broken-link 10'],
    ],
    [
      'two that changed places',
      () => interleave(a, b.with(3, b[4] as SentEntry).with(4, b[3] as SentEntry), c),
      ['order/reordered 4'],
    ],
  ])('%s refutes its own stream alone', (_words, entries, expected) => {
    const readings = readAccount(entries(), size);
    expect(statuses(readings)).toEqual({ a: 'verified', b: 'refuted', ç: 'verified' });
    expect(findings(readings, 'b')).toEqual(expected);
  });

  test('an entry moved to another stream is missed in its own and does not fit the other', () => {
    const moved = sealed({ ...(a[14] as SentEntry), stream_id: 'b' });
    const readings = readAccount([...a.toSpliced(14, 1), ...b, moved], size);
    expect(findings(readings, 'a')).toEqual(['order/gap 15-15']);
    expect(statuses(readings)).toEqual({ a: 'refuted', b: 'refuted' });
  });
});

test('agreement is not proved of one stream by a package of all', () => {
  const reading = readAccount(interleave(a, b)).get('a') as PackageReading;
  expect(examineReading(reading).claims.agreement).toEqual({
    state: 'unproved',
    code: 'account-package',
    reason: 'a package of the whole account states nothing of one stream',
  });
});

describe('a stream whose seal key was changed on the way', () => {
  const old = chainOf(5);
  const rotated = [...old];
  for (let index = 0; index < 5; index++) rotated.push(entryAfter(rotated.at(-1) as SentEntry, { seal_key_id: 'k2' }));
  const readingOf = (entries: SentEntry[], ...ids: string[]) => {
    const keys = new Map(ids.map((id) => [id, KEYS.get('k1') ?? toHmacKey(Buffer.from('none'))]));
    const reader = new PackageReader(defaultContract, keys);
    reader.push(Buffer.from(JSON.stringify(packageOf(entries))));
    return reader.finish();
  };
  const read = (...ids: string[]) => examineReading(readingOf(rotated, ...ids));

  test('is proved with both keys', () => {
    expect(read('k1', 'k2').claims.seal).toEqual({ state: 'proved', basis: '10 of 10 seals recomputed' });
  });

  test.each<[words: string, entries: SentEntry[], used: string[]]>([
    ['sound entries', rotated, ['k1', 'k2']],
    ['the entries before', old, ['k1']],
    ['wrong entries', [...old, { ...entryAfter(old.at(-1) as SentEntry), seal_key_id: 'k3' }], ['k1', 'k3']],
    ['no entries', [], []],
  ])('of the keys that are given, %s name those that they are made with', (_words, entries, used) => {
    const { keyIds } = readingOf(entries, 'k1', 'k2', 'k3', 'k4').walk.seals;
    expect([...keyIds].sort()).toEqual(used);
  });

  test('is unproved with one of them, and tells which entries and which key', () => {
    const { claims, findings: found } = read('k1');
    expect(claims.seal).toEqual({
      state: 'unproved',
      code: 'key-not-given',
      reason:
        '5 of 10 seals are made with a key not given ("k2", from entry 6 on, after seals of a key that was given)',
    });
    expect(found).toMatchObject([
      { code: 'seal/unknown-key', severity: 'warning', from: 6, to: 10, message: expect.stringContaining('"k2"') },
    ]);
  });

  test('is refuted with a wrong key for one of them', () => {
    const reader = new PackageReader(defaultContract, new Map([...KEYS, ['k2', toHmacKey(Buffer.from('wrong'))]]));
    reader.push(Buffer.from(JSON.stringify(packageOf(rotated))));
    const { claims, findings: found } = examineReading(reader.finish());
    expect([claims.seal.state, bare(found)]).toEqual(['refuted', ['seal/mismatch 6-10']]);
  });
});

test('memory for a stream grows with its entries', () => {
  const streams = Array.from({ length: 1_000 }, (_, index) => {
    const [first, second] = chainOf(2, { stream_id: `s${index}` }) as [SentEntry, SentEntry];
    return [first, sealed({ ...second, sequence: 4097 })];
  });
  const bytes = Buffer.from(JSON.stringify({ ...packageOf(streams.flat()), stream: null }));
  // Allocate the memory that every reader needs, such as its decoder's.
  readAccount(streams[0] ?? []);
  const reader = new PackageReader(defaultContract, KEYS);
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  reader.push(bytes);
  collectGarbage();
  const perStream = (process.memoryUsage().arrayBuffers - before) / streams.length;
  // Columns for all numbers up to the last one would take several times as much.
  expect(perStream).toBeLessThan(24_000);
  expect(reader.finishEach()).toHaveLength(streams.length);
});

const [BREAKS = 0] = someRows([20_000, 100_000], () => 'breaks').slice(-1);

test(`${BREAKS} breaks stay bounded in what is kept, and exact in their count`, () => {
  const entries = chainOf(2);
  const broken = Array.from({ length: BREAKS }, (_, index) =>
    index < 2
      ? (entries[index] as SentEntry)
      : { ...(entries[1] as SentEntry), sequence: index + 1, prev_hash: 'ab'.repeat(32) },
  );
  const reader = new PackageReader(defaultContract, KEYS);
  reader.push(Buffer.from(JSON.stringify(packageOf(broken))));
  const { claims, findings: found, findingsCount } = examineReading(reader.finish());
  // Every entry from the third on names a wrong predecessor and has a wrong digest.
  const refuted = { state: 'refuted', reason: `${(BREAKS - 2).toLocaleString('en')} deviations` };
  expect([claims.order, claims.content]).toEqual([refuted, refuted]);
  expect(findingsCount).toBeGreaterThanOrEqual(2 * (BREAKS - 2));
  expect(found.filter(({ code }) => code === 'order/broken-link')).toHaveLength(1000);
  expect(found.filter(({ code }) => code === 'content/mismatch')).toMatchObject([{ from: 3, to: BREAKS }]);
  expect(JSON.stringify(found).length).toBeLessThan(1_000_000);
});
