import { PackageReader, type PackageReading } from '../../src/verifier/chain/package.ts';
import type { UnhashedSet } from '../../src/verifier/model/unhashed.ts';
import type { Contract } from '../../src/verifier/reading/contract.ts';
import { STREAM } from '../support/chain.ts';
import {
  chainIn,
  type Dialect,
  digestTextOf,
  draftOf,
  genesisOf,
  packageIn,
  type Random,
  type Style,
  stamp,
} from '../support/dialects.ts';
import { mutate } from '../support/mutate.ts';
import { readInRanges } from '../support/ranges.ts';

export interface Comparison {
  /** Reading of the package by each path. Ranges report no single entries, so `inRanges` repeats those of `slow`. */
  fast: string;
  slow: string;
  inRanges: string;
  /** Number of entries that the fast path read, of all; and in ranges, the number read as segments. */
  taken: number;
  all: number;
  inSegments: number;
  findings: string;
  unhashed: UnhashedSet;
}

/** Compares the paths on a package of a dialect. @param splits offsets at which ranges begin. */
export function comparePaths(
  { contract, slow, keys }: Dialect,
  bytes: Buffer,
  splits: readonly number[] = [],
): Comparison {
  let slowly = 0;
  const counting: Contract = {
    ...contract,
    readEntry: (...entry) => {
      slowly++;
      return contract.readEntry(...entry);
    },
  };
  const fast = read(counting, bytes, keys);
  const other = read(slow, bytes, keys);
  const reader = new PackageReader(contract, keys, { streamId: STREAM, watch: () => WATCHED });
  const inSegments = readInRanges(reader, bytes, splits);
  return {
    fast: textOf(fast.reading, fast.seen),
    slow: textOf(other.reading, other.seen),
    inRanges: textOf(reader.finish(), other.seen),
    inSegments,
    taken: fast.reading.walk.entries - slowly,
    all: other.reading.walk.entries,
    findings: other.reading.walk.findings
      .list()
      .map(({ code, sequence }) => `${code} ${sequence ?? ''}`)
      .join(', '),
    unhashed: other.reading.walk.unhashed,
  };
}

const WATCHED = [2, 5];

function read(contract: Contract, bytes: Buffer, keys: Dialect['keys']) {
  const seen: unknown[] = [];
  const reader = new PackageReader(contract, keys, {
    streamId: STREAM,
    watch: () => WATCHED,
    onEntry: ({ sequence, digest, timestamp }) => seen.push([sequence, digest, timestamp]),
  });
  reader.push(Buffer.from(bytes));
  return { reading: reader.finish(), seen };
}

function textOf({ walk, facts, defect }: PackageReading, seen: readonly unknown[]): string {
  return JSON.stringify({
    ...walk,
    watched: [...walk.watched].sort(([a], [b]) => a - b),
    unhashed: [...walk.unhashed.keys()],
    findings: walk.findings.list(),
    total: walk.findings.total(),
    facts,
    defect,
    seen,
  });
}

/** Picks offsets for splitting a package; the first part is long enough to identify the stream. */
export function splitsOf(bytes: Buffer, random: Random): number[] {
  return Array.from({ length: 1 + random(3) }, () => Math.floor((bytes.length * (1 + random(15))) / 16));
}

/** Builds a package of a dialect: mutates some entries before digesting, some after, and moves some. */
export function damagedPackage(dialect: Dialect, random: Random): Buffer {
  const style: Style = { spaced: random(3) === 0, ascii: random(3) === 0, pretty: random(4) === 0 };
  let entries: string[] = [];
  const length = random(24);
  const damage = random(3) === 0 ? 0 : 1 + random(12);
  for (let index = 0; index < length; index++) {
    const last = entries.at(-1);
    const previous = last === undefined ? genesisOf(dialect) : digestTextOf(dialect, last);
    let draft = draftOf(dialect, index, previous, style, random);
    if (damage > 0 && random(damage) === 0) draft = mutate(draft, random);
    const entry = stamp(dialect, draft);
    entries.push(damage > 0 && random(damage * 2) === 0 ? mutate(entry, random) : entry);
  }
  const others = chainIn(dialect, 2, random);
  for (let changes = random(3) - 1; changes > 0 && entries.length > 1; changes--) {
    const at = random(entries.length);
    const other = [...entries, ...others][random(entries.length + others.length)] ?? '';
    entries = entries.toSpliced(at, random(2), ...(random(2) === 0 ? [] : [other]));
  }
  return packageIn(dialect, entries);
}
