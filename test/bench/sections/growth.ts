import type { Bench } from '../bench.ts';
import type { Program } from '../program.ts';
import { memoryRow, type Row, toRow } from '../row.ts';
import { verifyProgram } from '../verifiers.ts';

const MEMORY_MB = 80;
/** Bound on the time for ten times as many entries, relative to the smaller package. */
const TIME = 11;

/** Measures memory and time as a package grows: a tenth, half, all, and with --full ten times as many entries. */
export async function benchGrowth(bench: Bench): Promise<Row[]> {
  const { entries, full } = bench.options;
  const sizes = [entries / 10, entries / 2, entries, ...(full ? [entries * 10] : [])].map(Math.round);
  const programs: Record<string, Program> = { idle: { command: [process.execPath, '-e', ''] } };
  for (const size of sizes) programs[size] = verifyProgram(bench, await bench.data(size));
  const figures = await bench.measureInTurn(programs);
  const figuresOf = (name: string | number) => {
    const found = figures[name];
    if (found === undefined) throw new Error(`${name} was not measured`);
    return found;
  };
  const idle = figuresOf('idle').peakMb;
  const memory = sizes.map((size) =>
    memoryRow(
      {
        id: `growth/memory-${size / entries}`,
        what: `memory over an idle process, ${count(size)} entries`,
        atMost: MEMORY_MB,
      },
      figuresOf(size).peakMb - idle,
      { name: 'node -e ""', peakMb: idle },
    ),
  );
  const pairs = sizes.filter((size) => sizes.includes(size * 10));
  const time = pairs.map((size) => {
    const [small, large] = [figuresOf(size).seconds, figuresOf(size * 10).seconds];
    return toRow({
      id: `growth/time-${size / entries}`,
      what: `growth of time, ${count(size)} to ${count(size * 10)} entries`,
      ours: { value: large, unit: 's' },
      other: { name: count(size), value: small, unit: 's' },
      ratio: large / small,
      goal: { of: 'ratio', bound: '≤', value: TIME },
    });
  });
  return [...memory, ...time];
}

function count(entries: number): string {
  return entries.toLocaleString('en');
}
