import { PackageReader, type PackageReading } from '../../src/chain/package.ts';
import type { Contract } from '../../src/contract/contract.ts';
import { STREAM } from '../support/chain.ts';
import type { Dialect } from '../support/dialects.ts';

export interface Comparison {
  /** What each path made of the package. */
  fast: string;
  slow: string;
  /** How many entries the fast path took of how many. */
  taken: number;
  all: number;
  findings: string;
  uncovered: ReadonlySet<string>;
}

/** Holds both paths against each other over a package of a dialect. */
export function comparePaths({ contract, slow, keys }: Dialect, bytes: Buffer): Comparison {
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
  return {
    fast: fast.text,
    slow: other.text,
    taken: fast.reading.walk.entries - slowly,
    all: other.reading.walk.entries,
    findings: other.reading.walk.findings.list().map(({ code, sequence }) => `${code} ${sequence ?? ''}`).join(', '),
    uncovered: other.reading.walk.uncovered,
  };
}

function read(contract: Contract, bytes: Buffer, keys: Dialect['keys']): { reading: PackageReading; text: string } {
  const seen: unknown[] = [];
  const reader = new PackageReader(contract, keys, {
    streamId: STREAM,
    watch: () => [2, 5],
    onEntry: ({ sequence, digest, timestamp }) => seen.push([sequence, digest, timestamp]),
  });
  reader.push(Buffer.from(bytes));
  const reading = reader.finish();
  const { walk, facts, defect } = reading;
  const text = JSON.stringify({
    ...walk,
    watched: [...walk.watched].sort(([a], [b]) => a - b),
    uncovered: [...walk.uncovered].sort(),
    findings: walk.findings.list(),
    total: walk.findings.total(),
    facts,
    defect,
    seen,
  });
  return { reading, text };
}
