import type { Bench } from '../bench.ts';
import { exportProgram, fasterPeer, peerExportProgram, SERVED_BY, serveStreams } from '../exporters.ts';
import type { Service } from '../recording.ts';
import { memoryRow, type Row, speedRow } from '../row.ts';

const STREAMS = 20;
/** Goals; the platform shares the cores with the export. */
const AT_LEAST = { recorded: 1.6, platform: 1 };
const MEMORY_MB = 400;

/** Measures a whole export of few large streams. */
export async function benchExport(bench: Bench): Promise<Row[]> {
  const entries = Math.round(bench.options.entries / 10);
  const platform = await serveStreams(bench, STREAMS, entries);
  const workOf = (service: Service) => ({ service, streams: STREAMS, entries });
  const recorded = await bench.recordService(platform, [
    (service) => exportProgram(bench, workOf(service)),
    (service) => peerExportProgram(bench, workOf(service), 1),
  ]);
  const what = `export ${STREAMS} streams of ${entries.toLocaleString('en')} entries`;
  const rowsOf = async (kind: keyof typeof SERVED_BY, service: Service) => {
    const figures = await bench.measureInTurn({
      export: exportProgram(bench, workOf(service)),
      'peer P=1': peerExportProgram(bench, workOf(service), 1),
      'peer P=4': peerExportProgram(bench, workOf(service), 4),
    });
    const { export: ours } = figures;
    const peer = fasterPeer(figures);
    const of = `${what} ${SERVED_BY[kind]}`;
    return [
      speedRow({ id: `export/speed-${kind}`, what: of, atLeast: AT_LEAST[kind] }, ours.seconds, peer),
      memoryRow({ id: `export/memory-${kind}`, what: `${of}: memory`, atMost: MEMORY_MB }, ours.peakMb, peer),
    ];
  };
  try {
    return [...(await rowsOf('recorded', recorded)), ...(await rowsOf('platform', platform))];
  } finally {
    await Promise.all([recorded.stop(), platform.stop()]);
  }
}
