import type { Bench } from '../bench.ts';
import { exportProgram, peerExportProgram, serveStreams } from '../exporters.ts';
import { memoryRow, type Row, speedRow } from '../row.ts';

const STREAMS = 20;
const AT_LEAST = 3;
const MEMORY_MB = 250;

/** A whole export of few large streams. */
export async function benchExport(bench: Bench): Promise<Row[]> {
  const entries = Math.round(bench.options.entries / 10);
  const platform = await serveStreams(bench, STREAMS, entries);
  const work = { platform, streams: STREAMS, entries };
  try {
    const figures = await bench.measureInTurn({
      export: exportProgram(bench, work),
      'peer P=1': peerExportProgram(bench, work, 1),
      'peer P=4': peerExportProgram(bench, work, 4),
    });
    const name = figures['peer P=1'].seconds < figures['peer P=4'].seconds ? 'peer P=1' : 'peer P=4';
    const what = `export ${STREAMS} streams of ${entries.toLocaleString('en')} entries`;
    return [
      speedRow({ id: 'export/speed', what, atLeast: AT_LEAST }, figures.export.seconds, {
        name,
        seconds: figures[name].seconds,
      }),
      memoryRow({ id: 'export/memory', what: `${what}: memory`, atMost: MEMORY_MB }, figures.export.peakMb, {
        name,
        peakMb: figures[name].peakMb,
      }),
    ];
  } finally {
    await platform.stop();
  }
}
