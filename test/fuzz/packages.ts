import { chainOf, entryAfter, packageOf, type SentEntry, STREAM, sealed } from '../support/chain.ts';
import type { Case } from './two-paths.ts';

/** Seeded random numbers, so that every case can be reproduced. */
export type Random = (below: number) => number;

export function randomFrom(seed: number): Random {
  let state = BigInt(seed) * 2n + 1n;
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & (2n ** 64n - 1n);
    return Number((state >> 33n) % BigInt(below));
  };
}

const LENGTHS = [0, 1, 2, 5, 40, 300];
const chains = LENGTHS.map((length) => varied(length));
const foreign = chainOf(5, { stream_id: 'another' });

/**
 * Builds varied entries: plain ones for the fast path, ones that it sorts, and ones that it leaves to the slow path.
 */
function varied(length: number): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let index = 0; index < length; index++) {
    const metadata = [
      { amount: index * 1.5, note: 'ü "quoted" \\ },{"entry_id":"' },
      { z: [1, { b: null, a: true }], a: 'x'.repeat(index % 97) },
      { '€': 1, '\u{1f600}': 2, '\uffff': 3 },
      { big: 1e21, small: 1e-7, exact: 9007199254740991, tenth: 0.1 },
      'no object at all',
    ][index % 5];
    entries.push(entryAfter(entries.at(-1) ?? null, { metadata }));
  }
  return entries;
}

type Change = (entries: SentEntry[], random: Random) => SentEntry[];

const CHANGES: Change[] = [
  (entries) => entries,
  (entries, random) => entries.toSpliced(random(entries.length), 1 + random(3)),
  (entries, random) => entries.toSpliced(random(entries.length), 0, pick(entries, random)),
  (entries, random) => entries.toSpliced(random(entries.length), 0, pick(foreign, random)),
  (entries, random) => {
    const [one, other] = [random(entries.length), random(entries.length)];
    return entries
      .with(
        one,
        pick(entries.slice(other), () => 0),
      )
      .with(
        other,
        pick(entries.slice(one), () => 0),
      );
  },
  (entries, random) => changed(entries, random, (entry) => ({ ...entry, [pick(NAMES, random)]: pick(VALUES, random) })),
  (entries, random) =>
    changed(entries, random, (entry) => resealed({ ...entry, [pick(NAMES, random)]: pick(VALUES, random) })),
  (entries, random) => changed(entries, random, (entry) => resealed({ ...entry, timestamp: pick(TIMES, random) })),
  (entries, random) => {
    // Rewrites the chain from one entry on: links and seals are valid, but entries changed.
    const from = random(entries.length);
    if (!isWellFormed(entries) || !entries.every(({ sequence }) => sequence < 1000)) return entries;
    const kept = entries.slice(0, from);
    for (const entry of entries.slice(from))
      kept.push(entryAfter(kept.at(-1) ?? null, { metadata: entry['metadata'] }));
    return kept;
  },
  (entries, random) => entries.slice(random(entries.length)),
];

const NAMES = [
  'sequence',
  'prev_hash',
  'hash',
  'seal',
  'seal_key_id',
  'stream_id',
  'entry_id',
  'actor',
  'metadata',
  'new',
];
const VALUES: unknown[] = [
  ...[0, 1, 2, 3, 7, -1, 1.5, 2 ** 53, null, true, '', 'k1', 'k2', STREAM, 'another', {}, [], { a: { b: 1 } }],
  ...['0'.repeat(64), 'a'.repeat(64), 'A'.repeat(64), 'a'.repeat(63), '\ud800', '\u0000', 'é', undefined],
];
const TIMES = [
  ...['2026-10-01T00:00:00.000Z', '2026-09-01T00:00:00.000Z', '2026-10-01T00:00:00Z', '2026-10-01T02:00:00.000+02:00'],
  ...['2026-02-29T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00.000Z', 'never', ''],
];

function changed(entries: SentEntry[], random: Random, change: (entry: SentEntry) => unknown): SentEntry[] {
  const at = random(entries.length);
  return entries.with(at, change(pick(entries.slice(at), () => 0)) as SentEntry);
}

/** Recomputes the digest, if the entry has a canonical form. */
function resealed(entry: SentEntry): SentEntry {
  return isWellFormed(entry) ? sealed(entry) : entry;
}

function isWellFormed(value: unknown): boolean {
  return !/\\ud[89a-f]/.test(JSON.stringify(value));
}

function pick<T>(items: readonly T[], random: Random): T {
  return items[random(items.length)] as T;
}

const TOKENS = [
  ...'"\\,:{}[] \n0.-eu',
  '\\u0041',
  '\\ud800',
  '1.0',
  '-0',
  '9007199254740993',
  'null',
  '{"a":1,"a":2}',
  '\xff',
];

function scratched(text: string, random: Random): string {
  const at = random(text.length + 1);
  return text.slice(0, at) + pick(TOKENS, random) + text.slice(at + random(3));
}

/** Builds a package, damages, formats and cuts it at random. */
export function packageCase(random: Random): Case {
  let entries = pick(chains, random);
  for (let changes = random(4); changes > 0 && entries.length > 0; changes--)
    entries = pick(CHANGES, random)(entries, random);
  if (random(3) === 0) entries = entries.map((entry) => shuffled(entry, random));
  const sent = packageOf(entries, random(8) === 0 ? { entry_count: 3 } : {});
  let text = JSON.stringify(sent, null, random(4) === 0 ? random(3) : 0);
  for (let scratches = Math.max(0, random(6) - 3); scratches > 0; scratches--) text = scratched(text, random);
  const bytes = Buffer.from(text, random(10) === 0 ? 'latin1' : 'utf8');
  return {
    bytes,
    cuts: Array.from({ length: random(5) }, () => random(bytes.length + 1)),
    withKeys: random(3) > 0,
    watch: Array.from({ length: random(4) }, () => random(45)),
    ...(random(2) === 0 ? { streamId: STREAM } : {}),
  };
}

function shuffled(entry: SentEntry, random: Random): SentEntry {
  const members = Object.entries(entry);
  for (let at = members.length - 1; at > 0; at--) {
    const other = random(at + 1);
    [members[at], members[other]] = [members[other] as [string, unknown], members[at] as [string, unknown]];
  }
  return Object.fromEntries(members) as SentEntry;
}
