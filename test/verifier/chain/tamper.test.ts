import { describe, expect, test } from 'vitest';
import {
  bare,
  chainOf,
  entryAfter,
  packageOf,
  readPackage,
  type SentEntry,
  STREAM,
  sealed,
} from '../../support/chain.ts';

const LENGTH = 60;
const LONG = 5000;
const intact = chainOf(LENGTH);
const long = chainOf(LONG);
const foreign = chainOf(LENGTH, { stream_id: 'another' });

/** Returns the entry with this sequence number. */
const at = (sequence: number, chain = intact): SentEntry => chain[sequence - 1] as SentEntry;
const without = (from: number, to = from) => intact.filter(({ sequence }) => sequence < from || sequence > to);
const replaced = (entry: SentEntry, chain = intact) => chain.with(entry.sequence - 1, entry);
/** Rebuilds the chain from `sequence` on, as the holder of the key can. */
function relinked(sequence: number, more: Partial<SentEntry>): SentEntry[] {
  const entries = intact.slice(0, sequence - 1);
  entries.push(sealed({ ...at(sequence), ...more, prev_hash: entries.at(-1)?.hash ?? at(1).prev_hash }));
  while (entries.length < LENGTH)
    entries.push(sealed({ ...at(entries.length + 1), prev_hash: (entries.at(-1) as SentEntry).hash }));
  return entries;
}
const swap = (one: number, other: number) => intact.with(one - 1, at(other)).with(other - 1, at(one));
const late = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `order/reordered ${from + index}`);

/** Returns the parts of an entry that states that the clock was corrected. */
const corrected = (metadata: object): Partial<SentEntry> => ({
  timestamp: EARLY,
  action: 'clock.corrected',
  metadata: { now: EARLY, previous: at(29).timestamp, ...metadata },
});
const EARLY = '2026-09-01T00:00:00.000Z';
const BACKWARDS = ['order/clock-backwards 30'];

const TABLE: [string, () => SentEntry[], string[]][] = [
  ['nothing', () => intact, []],
  ['an edit', () => replaced({ ...at(30), actor: 'mallory' }), ['content/mismatch 30']],
  ['an edit of the first', () => replaced({ ...at(1), actor: 'mallory' }), ['content/mismatch 1']],
  ['an edit of the last', () => replaced({ ...at(LENGTH), actor: 'mallory' }), [`content/mismatch ${LENGTH}`]],
  [
    'edits side by side',
    () => intact.map((entry) => (entry.sequence > 9 && entry.sequence < 20 ? { ...entry, actor: 'm' } : entry)),
    ['content/mismatch 10-19'],
  ],
  [
    'every second entry edited',
    () => intact.slice(0, 9).map((entry) => (entry.sequence % 2 === 0 ? { ...entry, actor: 'm' } : entry)),
    ['content/mismatch 2', 'content/mismatch 4', 'content/mismatch 6', 'content/mismatch 8'],
  ],
  ['an added member', () => replaced({ ...at(30), added: null }), ['content/mismatch 30']],
  [
    'an edit and its hash',
    () => replaced({ ...sealed({ ...at(30), actor: 'mallory' }), seal: at(30).seal }),
    ['seal/mismatch 30', 'order/broken-link 31'],
  ],
  ['an edit, hashed and sealed', () => replaced(sealed({ ...at(30), actor: 'mallory' })), ['order/broken-link 31']],
  ['a seal', () => replaced({ ...at(30), seal: at(29).seal }), ['seal/mismatch 30']],
  ['a seal in capitals', () => replaced({ ...at(30), seal: at(30).seal.toUpperCase() }), ['seal/malformed 30']],
  [
    'the id of the key',
    () => replaced({ ...at(30), seal_key_id: 'k2' }),
    ['content/mismatch 30', 'seal/unknown-key 30'],
  ],
  ['the first dropped', () => without(1), []],
  ['the last dropped', () => without(LENGTH), []],
  ['one dropped', () => without(30), ['order/gap 30-30']],
  ['the second dropped', () => without(2), ['order/gap 2-2']],
  ['a range dropped', () => without(10, 19), ['order/gap 10-19']],
  [
    'two ranges dropped',
    () => without(10, 19).filter(({ sequence }) => sequence < 30 || sequence > 41),
    ['order/gap 10-19', 'order/gap 30-41'],
  ],
  ['all but the ends dropped', () => without(2, LENGTH - 1), [`order/gap 2-${LENGTH - 1}`]],
  ['neighbours swapped', () => swap(30, 31), ['order/reordered 30']],
  ['the first two swapped', () => swap(1, 2), ['order/reordered 1']],
  ['far ones swapped', () => swap(20, 23), late(20, 22)],
  ['a duplicate next to it', () => intact.toSpliced(30, 0, at(30)), ['order/duplicate 30']],
  ['a duplicate far from it', () => [...intact, at(5)], ['order/duplicate 5']],
  [
    'everything twice',
    () => [...chainOf(3), ...chainOf(3)],
    ['order/duplicate 1', 'order/duplicate 2', 'order/duplicate 3'],
  ],
  ['a duplicate beyond memory', () => [...long, at(5, long)], ['order/duplicate 5']],
  ['a fork', () => intact.toSpliced(30, 0, entryAfter(at(29), { actor: 'm' })), ['order/fork 30']],
  ['a fork before the true one', () => intact.toSpliced(29, 0, entryAfter(at(29), { actor: 'm' })), ['order/fork 30']],
  ['a fork far from it', () => [...intact, entryAfter(at(4), { actor: 'm' })], ['order/fork 5']],
  ['a fork beyond memory', () => [...long, entryAfter(at(4, long), { actor: 'm' })], ['order/duplicate 5']],
  [
    'a fork of two branches',
    () => [...intact.slice(0, 32), entryAfter(at(30), { actor: 'm' }), entryAfter(entryAfter(at(30), { actor: 'm' }))],
    ['order/fork 31', 'order/fork 32'],
  ],
  [
    'a fork of which the second branch goes on',
    () => [...intact.slice(0, 31), entryAfter(at(30), { actor: 'm' }), entryAfter(entryAfter(at(30), { actor: 'm' }))],
    ['order/fork 31'],
  ],
  ['a foreign entry', () => intact.toSpliced(30, 0, at(30, foreign)), ['order/foreign-entry 30']],
  ['a foreign entry in place of one', () => replaced(at(30, foreign)), ['order/foreign-entry 30', 'order/gap 30-30']],
  [
    'foreign entries side by side',
    () => intact.toSpliced(30, 0, ...foreign.slice(10, 20)),
    ['order/foreign-entry 11-20'],
  ],
  ['a foreign entry that was linked in', () => relinked(30, { stream_id: 'another' }), ['order/foreign-entry 30']],
  ['all of them foreign', () => foreign, [`order/foreign-entry 1-${LENGTH}`]],
  [
    'another chain from here on',
    () => [...intact.slice(0, 29), ...chainOf(LENGTH, { actor: 'm' }).slice(29)],
    ['order/broken-link 30'],
  ],
  ['the chain made anew from an edit on', () => relinked(30, { actor: 'mallory' }), []],
  ['a link', () => replaced({ ...at(30), prev_hash: at(10).hash }), ['content/mismatch 30', 'order/broken-link 30']],
  [
    'a link, hashed and sealed',
    () => replaced(sealed({ ...at(30), prev_hash: at(10).hash })),
    ['order/broken-link 30', 'order/broken-link 31'],
  ],
  [
    'a dropped entry healed over',
    () => relinked(30, {}).filter(({ sequence }) => sequence !== 30),
    ['order/gap 30-30'],
  ],
  ['a block moved to the end', () => [...without(20, 29), ...intact.slice(19, 29)], late(20, 29)],
  ['a block moved to the front', () => [...intact.slice(40), ...intact.slice(0, 40)], late(1, 40)],
  ['reversed', () => intact.toReversed(), late(1, LENGTH - 1)],
  [
    'a later entry that claims to be first',
    () => replaced({ ...at(30), prev_hash: '0'.repeat(64) }),
    ['content/mismatch 30', 'order/genesis 30'],
  ],
  [
    'a second chain begun in the middle',
    () => replaced(sealed({ ...at(30), prev_hash: '0'.repeat(64) })),
    ['order/broken-link 31', 'order/genesis 30'],
  ],
  [
    'a first entry that names a predecessor',
    () => relinked(1, {}).with(0, sealed({ ...at(1), prev_hash: at(9).hash })),
    ['order/broken-link 2', 'order/genesis 1'],
  ],
  [
    'a sequence number',
    () => intact.with(29, { ...at(30), sequence: 31 }),
    ['content/mismatch 31', 'order/fork 31', 'order/gap 30-30'],
  ],
  ['the clock set back', () => relinked(30, { timestamp: '2026-09-01T00:00:00.000Z' }), ['order/clock-backwards 30']],
  ['the clock set back as stated', () => relinked(30, corrected({})), ['order/clock-corrected 30']],
  ['a stated time of another entry', () => relinked(30, corrected({ previous: at(28).timestamp })), BACKWARDS],
  ['a stated time of its own that is another', () => relinked(30, corrected({ now: at(28).timestamp })), BACKWARDS],
  ['a statement with more', () => relinked(30, corrected({ more: 1 })), BACKWARDS],
  ['a statement by another action', () => relinked(30, { ...corrected({}), action: 'clock.set' }), BACKWARDS],
  ['the clock standing still', () => chainOf(5, { timestamp: '2026-10-01T00:00:00.000Z' }), []],
  [
    'the clock running backwards',
    () => {
      const entries: SentEntry[] = [];
      for (let day = 9; day > 0; day--)
        entries.push(entryAfter(entries.at(-1) ?? null, { timestamp: `2026-10-0${day}T00:00:00.000Z` }));
      return entries;
    },
    ['order/clock-backwards 2-9'],
  ],
];

describe('tampering with a chain', () => {
  test.each(TABLE)('%s', (_words, tamper, expected) => {
    const { walk, defect } = readPackage(packageOf(tamper()), { streamId: STREAM });
    expect(defect).toBeNull();
    expect(bare(walk.findings.list()).toSorted()).toEqual(expected.toSorted());
  });
});

test('what an intact chain shows', () => {
  const { walk } = readPackage(packageOf(intact), { watch: [7, 61] });
  expect(walk).toMatchObject({
    streamId: STREAM,
    entries: LENGTH,
    first: { sequence: 1, previous: '0'.repeat(64) },
    head: { sequence: LENGTH, digest: at(LENGTH).hash },
    startsAtGenesis: true,
    contentComputed: LENGTH,
    seals: { verified: LENGTH },
  });
  expect([...walk.watched]).toEqual([
    [7, { stated: at(7).hash, computed: at(7).hash, ambiguous: false, timestamp: at(7).timestamp }],
  ]);
});

test('the findings say what to look for and what to do', () => {
  const { walk } = readPackage(packageOf(replaced({ ...at(30), actor: 'mallory' })), { streamId: STREAM });
  const [found] = walk.findings.list();
  expect(found).toMatchObject({
    severity: 'error',
    stream_id: STREAM,
    sequence: 30,
    entry_id: 'e-30',
    expected: at(30).hash,
    actual: sealed({ ...at(30), actor: 'mallory' }).hash,
  });
});

test('what a seal should have been is a secret', () => {
  const broken = { ...at(30), seal: 'f'.repeat(64) };
  const { walk } = readPackage(packageOf(replaced(broken)), { streamId: STREAM });
  expect(JSON.stringify(walk.findings.list())).not.toContain(at(30).seal);
  expect(walk.findings.list()).toMatchObject([{ code: 'seal/mismatch', expected: broken.seal }]);
});

describe('without keys only the form of a seal is looked at', () => {
  test.each<[string, unknown, string[]]>([
    ['made with another key', 'f'.repeat(64), []],
    ['absent', undefined, []],
    ['null', null, []],
    ['no text', 7, ['seal/malformed 30']],
    ['no hex', 'x'.repeat(64), ['seal/malformed 30']],
    ['in upper case', 'F'.repeat(64), ['seal/malformed 30']],
    ['too short', 'f'.repeat(62), ['seal/malformed 30']],
    ['too long', 'f'.repeat(66), ['seal/malformed 30']],
  ])('%s', (_words, seal, expected) => {
    const { walk } = readPackage(packageOf(replaced({ ...at(30), seal: seal as string })), { keys: new Map() });
    expect([walk.seals.verified, bare(walk.findings.list())]).toEqual([0, expected]);
  });
});
