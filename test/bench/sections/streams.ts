import type { Bench } from '../bench.ts';
import { type ExportWork, exportProgram, peerExportProgram, serveStreams } from '../exporters.ts';
import { measure } from '../program.ts';
import { countRequests } from '../requests.ts';
import { type Row, toRow } from '../row.ts';

const ENTRIES = 50;
/** For 500,000 entries 2,000 streams, of which the peer, whose cost per stream is the same for each, exports 100. */
const STREAMS_PER_ENTRY = 1 / 250;
const PEER_STREAMS_PER_ENTRY = 1 / 5000;
const PEER_STREAMS_AT_LEAST = 8;
const AT_LEAST = 3;
const REQUESTS = 7;

/** A whole export of many small streams: what a stream costs by itself. */
export async function benchStreams(bench: Bench): Promise<Row[]> {
  const peerStreams = Math.max(PEER_STREAMS_AT_LEAST, Math.round(bench.options.entries * PEER_STREAMS_PER_ENTRY));
  const streams = Math.max(peerStreams, Math.round(bench.options.entries * STREAMS_PER_ENTRY));
  const platform = await serveStreams(bench, streams, ENTRIES);
  const work = { platform, streams, entries: ENTRIES };
  const peerWork = { ...work, streams: peerStreams };
  try {
    const figures = await bench.measureInTurn({
      export: exportProgram(bench, work),
      'peer P=1': peerExportProgram(bench, peerWork, 1),
      'peer P=4': peerExportProgram(bench, peerWork, 4),
    });
    const name = figures['peer P=1'].seconds < figures['peer P=4'].seconds ? 'peer P=1' : 'peer P=4';
    const ours = figures.export.seconds / streams;
    const peer = figures[name].seconds / peerStreams;
    const what = `export ${streams.toLocaleString('en')} streams of ${ENTRIES} entries`;
    return [
      toRow({
        id: 'streams/time',
        what: `${what}: per stream`,
        ours: { value: ours * 1000, unit: 'ms' },
        other: { name, value: peer * 1000, unit: 'ms' },
        ratio: peer / ours,
        goal: { of: 'ratio', bound: '≥', value: AT_LEAST },
      }),
      toRow({
        id: 'streams/requests',
        what: `${what}: requests per stream`,
        ours: { value: (await requestsOf(bench, work)) / streams, unit: 'requests' },
        other: null,
        ratio: null,
        goal: { of: 'ours', bound: '≤', value: REQUESTS },
      }),
    ];
  } finally {
    await platform.stop();
  }
}

/** Of one whole export, the lists included. */
async function requestsOf(bench: Bench, work: ExportWork): Promise<number> {
  const counter = await countRequests(new URL(work.platform.auditUrl).origin);
  try {
    const program = exportProgram(bench, work);
    const auditUrl = `${counter.origin}/audit`;
    const env = { ...work.platform.env, EVIDENCE_AUDIT_URL: auditUrl };
    await measure(bench.programs.measure, bench.folder, { ...program, env });
    return counter.count();
  } finally {
    counter.close();
  }
}
