import { PackageReader, type PackageReading } from '../../src/verifier/chain/package.ts';
import type { Contract } from '../../src/verifier/reading/contract.ts';
import { defaultContract } from '../../src/verifier/reading/default-contract.ts';
import { KEYS } from '../support/chain.ts';
import { readInRanges } from '../support/ranges.ts';

/** The reference path, which parses, canonicalizes and hashes each entry. */
const slowContract: Contract = { ...defaultContract, program: null };

export interface Case {
  bytes: Buffer;
  /** Offsets at which the bytes are cut into pieces, and into ranges that are read independently. */
  cuts: readonly number[];
  withKeys: boolean;
  watch: readonly number[];
  streamId?: string;
}

/** Returns null if the fast path, whole and in ranges, agrees with the slow path; otherwise both readings. */
export function differenceOf(one: Case): { fast: string; slow: string } | null {
  const [fast, slow] = [readBy(defaultContract, one), readBy(slowContract, one)];
  const ofWhole = compared({ ...plain(fast.reading), seen: fast.seen }, { ...plain(slow.reading), seen: slow.seen });
  return ofWhole ?? compared(plain(readRanges(one).reading), plain(slow.reading));
}

function compared(one: object, other: object): { fast: string; slow: string } | null {
  const [fast, slow] = [JSON.stringify(one), JSON.stringify(other)];
  return fast === slow ? null : { fast, slow };
}

/** Returns the number of entries that the fast path read, of all. */
export function coverageOf(one: Case): { taken: number; all: number } {
  let slowly = 0;
  const contract: Contract = {
    ...defaultContract,
    readEntry: (...entry) => {
      slowly++;
      return defaultContract.readEntry(...entry);
    },
  };
  const { walk } = readBy(contract, one).reading;
  return { taken: walk.entries - slowly, all: walk.entries };
}

function plain({ walk, facts, defect }: PackageReading) {
  const findings = walk.findings.list();
  const watched = [...walk.watched].sort(([a], [b]) => a - b);
  return { ...walk, watched, findings, total: walk.findings.total(), facts, defect };
}

/** Reads with the fast path, in ranges that begin at each cut. @returns also the number of entries read as segments. */
export function readRanges({ bytes, cuts, withKeys, watch, streamId }: Case) {
  const reader = new PackageReader(defaultContract, withKeys ? KEYS : new Map(), {
    ...(streamId === undefined ? {} : { streamId }),
    watch: () => watch,
  });
  const taken = readInRanges(reader, bytes, cuts);
  return { reading: reader.finish(), taken };
}

function readBy(contract: Contract, { bytes, cuts, withKeys, watch, streamId }: Case) {
  const seen: unknown[] = [];
  const reader = new PackageReader(contract, withKeys ? KEYS : new Map(), {
    ...(streamId === undefined ? {} : { streamId }),
    watch: () => watch,
    onEntry: ({ sequence, digest, timestamp }) => seen.push([sequence, digest, timestamp]),
  });
  let at = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
    const piece = Buffer.from(bytes.subarray(at, cut));
    reader.push(piece);
    piece.fill(0x7d);
    at = Math.max(at, cut);
  }
  const reading: PackageReading = reader.finish();
  return { reading, seen };
}
