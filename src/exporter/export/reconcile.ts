import type { Reconciliation, RunStream, Vanished } from '../../verifier/records/record.ts';
import type { StreamJobs } from './stream-jobs.ts';

/** Every stream that was listed is in exactly one of the classes; one that vanished since it was exported is in none. */
export function reconcile(all: readonly RunStream[], vanished: readonly Vanished[], jobs: StreamJobs): Reconciliation {
  const { selection, failed } = jobs;
  const gone = new Set(vanished.map(({ stream_id }) => stream_id));
  const streams = all.filter(({ stream_id }) => !gone.has(stream_id));
  const excluded = selection.excluded.length;
  const partial = streams.filter((stream) => stream.partial || stream.status === 'incomplete').length;
  const empty = streams.filter((stream) => !stream.partial && stream.status === 'empty').length;
  const exported = streams.length - partial - empty;
  const listed = new Set([
    ...selection.included.map((stream) => stream.streamId),
    ...selection.excluded.map((exclusion) => exclusion.stream_id),
    ...streams.map((stream) => stream.stream_id),
  ]).size;
  if (listed !== exported + partial + failed.length + empty + excluded)
    throw new Error(
      `${listed} streams are listed, but ${exported + partial + failed.length + empty + excluded} accounted for`,
    );
  return { listed, exported, partial, failed: failed.length, empty, excluded };
}
