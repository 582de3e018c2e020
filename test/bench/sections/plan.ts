import type { Bench } from '../bench.ts';
import { serveStreams } from '../exporters.ts';
import { memoryRow, type Row } from '../row.ts';

/** 100,000 streams for 500,000 entries. */
const STREAMS_PER_ENTRY = 1 / 5;
const MEMORY_MB = 200;

/** Measures the memory for planning a run of very many streams. */
export async function benchPlan(bench: Bench): Promise<Row[]> {
  const streams = Math.round(bench.options.entries * STREAMS_PER_ENTRY);
  const platform = await serveStreams(bench, streams, 1);
  try {
    const { plan } = await bench.measureInTurn({
      plan: {
        command: [process.execPath, bench.programs.evidence, 'export', '--all-time', '--dry-run', '--json', '--quiet'],
        env: platform.env,
        check: (stdout) => {
          const planned = JSON.parse(stdout).streams.length;
          if (planned !== streams) throw new Error(`${planned} streams are planned, not ${streams}`);
        },
      },
    });
    const what = `plan ${streams.toLocaleString('en')} streams: memory`;
    return [memoryRow({ id: 'plan/memory', what, atMost: MEMORY_MB }, plan.peakMb, null)];
  } finally {
    await platform.stop();
  }
}
