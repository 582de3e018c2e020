import type { Bench } from '../bench.ts';
import { exportProgram, fasterPeer, peerExportProgram, SERVED_BY, serveStreams } from '../exporters.ts';
import type { Service } from '../recording.ts';
import { type Row, toRow } from '../row.ts';

const ENTRIES = 50;
/** 2,000 streams for 500,000 entries. The peer exports 100 of them, because its cost per stream is constant. */
const STREAMS_PER_ENTRY = 1 / 250;
const PEER_STREAMS_PER_ENTRY = 1 / 5000;
const PEER_STREAMS_AT_LEAST = 8;
const AT_LEAST = 4;
const REQUESTS = 7;

/** Measures a whole export of many small streams, to find the cost per stream. */
export async function benchStreams(bench: Bench): Promise<Row[]> {
  const peerStreams = Math.max(PEER_STREAMS_AT_LEAST, Math.round(bench.options.entries * PEER_STREAMS_PER_ENTRY));
  const streams = Math.max(peerStreams, Math.round(bench.options.entries * STREAMS_PER_ENTRY));
  const platform = await serveStreams(bench, streams, ENTRIES);
  const ours = (service: Service) => exportProgram(bench, { service, streams, entries: ENTRIES });
  const peer = (service: Service, parallel: number) =>
    peerExportProgram(bench, { service, streams: peerStreams, entries: ENTRIES }, parallel);
  const recorded = await bench.recordService(platform, [ours, (service) => peer(service, 1)]);
  const what = `export ${streams.toLocaleString('en')} streams of ${ENTRIES} entries`;
  const timeRow = async (kind: keyof typeof SERVED_BY, service: Service) => {
    const figures = await bench.measureInTurn({
      export: ours(service),
      'peer P=1': peer(service, 1),
      'peer P=4': peer(service, 4),
    });
    const { name, seconds } = fasterPeer(figures);
    const [mine, theirs] = [figures.export.seconds / streams, seconds / peerStreams];
    return toRow({
      id: `streams/time-${kind}`,
      what: `${what} ${SERVED_BY[kind]}: per stream`,
      ours: { value: mine * 1000, unit: 'ms' },
      other: { name, value: theirs * 1000, unit: 'ms' },
      ratio: theirs / mine,
      goal: { of: 'ratio', bound: '≥', value: AT_LEAST },
    });
  };
  try {
    return [
      await timeRow('recorded', recorded),
      await timeRow('platform', platform),
      toRow({
        id: 'streams/requests',
        what: `${what}: requests per stream`,
        // Requests of one whole export, lists included.
        ours: { value: (recorded.requests[0] ?? 0) / streams, unit: 'requests' },
        other: null,
        ratio: null,
        goal: { of: 'ours', bound: '≤', value: REQUESTS },
      }),
    ];
  } finally {
    await Promise.all([recorded.stop(), platform.stop()]);
  }
}
