import { ALL_DIALECTS } from '../support/dialects.ts';
import { comparePaths, damagedPackage, splitsOf } from './dialects.ts';
import { packageCase, randomFrom } from './packages.ts';
import { coverageOf, differenceOf, readRanges } from './two-paths.ts';

/**
 * Damages packages, of the default contract and of all dialects in turn, and compares what all paths make of them, for
 * as long as is asked.
 *
 *     node test/fuzz/run.ts [SECONDS [SEED]]
 */
const seconds = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const random = randomFrom(seed);
const counts = { packages: 0, entries: 0, fast: 0, inStretches: 0 };
const dialectCounts = { packages: 0, entries: 0, fast: 0, inStretches: 0 };
const end = performance.now() + seconds * 1000;
while (performance.now() < end) {
  const one = packageCase(random);
  const difference = differenceOf(one);
  counts.packages++;
  if (counts.packages % 50 === 0) {
    const { taken, all } = coverageOf(one);
    counts.entries += all;
    counts.fast += taken;
    counts.inStretches += readRanges(one).taken;
  }
  if (difference === null) {
    runDialect();
    continue;
  }
  process.stderr.write(`seed ${seed}, package ${counts.packages}:\n${difference.fast}\n${difference.slow}\n`);
  process.stderr.write(`${JSON.stringify({ ...one, bytes: one.bytes.toString('latin1') })}\n`);
  process.exit(1);
}
process.stdout.write(`seed ${seed}, ${seconds} s: ${JSON.stringify(counts)} (of every 50th)\n`);
process.stdout.write(`dialects: ${JSON.stringify(dialectCounts)}\n`);

function runDialect(): void {
  const dialect = ALL_DIALECTS[dialectCounts.packages++ % ALL_DIALECTS.length];
  if (dialect === undefined) return;
  const bytes = damagedPackage(dialect, random);
  const { fast, slow, inRanges, inStretches, taken, all } = comparePaths(dialect, bytes, splitsOf(bytes, random));
  dialectCounts.entries += all;
  dialectCounts.fast += taken;
  dialectCounts.inStretches += inStretches;
  if (fast === slow && inRanges === slow) return;
  process.stderr.write(`seed ${seed}, ${dialect.name}:\n${fast}\n${slow}\n${inRanges}\n${bytes.toString('latin1')}\n`);
  process.exit(1);
}
