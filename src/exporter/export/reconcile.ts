import type { Reconciliation, RunRecord } from '../../verifier/records/record.ts';
import { countRunStreams } from '../../verifier/records/run-algebra.ts';
import type { StreamSelection } from './plan.ts';

/** Counts the streams of a run, and holds the count to what was listed. A stream that is accounted for nowhere is a defect. */
export function reconcile(
  run: Pick<RunRecord, 'streams' | 'failed' | 'excluded' | 'vanished'>,
  { included }: StreamSelection,
): Reconciliation {
  const gone = new Set(run.vanished.map(({ stream_id }) => stream_id));
  const listed = new Set([
    ...included.map((stream) => stream.streamId),
    ...run.excluded.map((exclusion) => exclusion.stream_id),
    ...run.streams.map((stream) => stream.stream_id).filter((streamId) => !gone.has(streamId)),
  ]).size;
  const counts = countRunStreams(run);
  if (listed !== counts.listed) throw new Error(`${listed} streams are listed, but ${counts.listed} accounted for`);
  return counts;
}
