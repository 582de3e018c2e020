import type { Bench } from '../bench.ts';
import { type Row, toRow } from '../row.ts';

/** Factor of runs, because a start is short. */
const TIMES_AS_OFTEN = 4;
const AT_MOST = 4;

export async function benchStart(bench: Bench): Promise<Row[]> {
  const { help, node } = await bench.measureInTurn(
    {
      help: { command: [process.execPath, bench.programs.evidence, '--help'], check: mustBeHelp },
      node: { command: [process.execPath, '-e', '0'] },
    },
    bench.options.runs * TIMES_AS_OFTEN,
  );
  return [
    toRow({
      id: 'start/help',
      what: 'start: evidence --help',
      ours: { value: help.seconds * 1000, unit: 'ms' },
      other: { name: 'node -e 0', value: node.seconds * 1000, unit: 'ms' },
      ratio: help.seconds / node.seconds,
      goal: { of: 'ratio', bound: '≤', value: AT_MOST },
    }),
  ];
}

function mustBeHelp(stdout: string): void {
  if (!stdout.includes('evidence verify')) throw new Error(`this is no help: ${stdout.slice(0, 500)}`);
}
