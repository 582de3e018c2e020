import { PackageReader, type PackageReading } from '../../src/chain/package.ts';
import type { Contract } from '../../src/contract/contract.ts';
import { defaultContract } from '../../src/contract/default-contract.ts';
import { KEYS } from '../support/chain.ts';

/** The path that decides: every entry parsed, written anew and hashed by itself. */
const slowContract: Contract = { ...defaultContract, plainKind: null };

export interface Case {
  bytes: Buffer;
  /** Offsets at which the bytes are cut into pieces. */
  cuts: readonly number[];
  withKeys: boolean;
  watch: readonly number[];
  streamId?: string;
}

/** Null when both paths read a package alike, else what each of them made of it. */
export function differenceOf(one: Case): { fast: string; slow: string } | null {
  const [fast, slow] = [read(defaultContract, one), read(slowContract, one)];
  return fast === slow ? null : { fast, slow };
}

/** How many entries the fast path took of how many. */
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

function read(contract: Contract, one: Case): string {
  const { reading, seen } = readBy(contract, one);
  const { walk, facts, defect } = reading;
  const findings = walk.findings.list();
  return JSON.stringify({
    ...walk,
    watched: [...walk.watched].sort(([a], [b]) => a - b),
    findings,
    total: walk.findings.total(),
    facts,
    defect,
    seen,
  });
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
