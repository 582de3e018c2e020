import { monthOf } from '../../../verifier/records/months.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';

/** Entries of a stream that are dated into a month which was exported without them. */
export interface LateEntries {
  streamId: string;
  /** `11 to 20`, or `from 11` where only the first is known. */
  numbers: string;
  /** The month that they are dated into. */
  month: string;
  /** The run that found them. */
  seenBy: string;
}

export function toLate({ streams, run_id: seenBy }: Pick<RunRecord, 'streams' | 'run_id'>): LateEntries[] {
  return streams.flatMap((stream) =>
    grownIn(stream).map(({ sequence, from, to, recorded_at = '' }) => ({
      streamId: stream.stream_id,
      numbers:
        from === undefined || to === undefined ? `from ${sequence}` : from === to ? `${from}` : `${from} to ${to}`,
      month: monthOf(recorded_at) ?? 'unknown',
      seenBy,
    })),
  );
}

/** Number of entries that no export has, although their month was exported. */
export function countUnfetched(stream: Pick<RunStream, 'findings'>): number {
  return grownIn(stream).reduce(
    (sum, { from, to }) => sum + (from === undefined || to === undefined ? 0 : to - from + 1),
    0,
  );
}

function grownIn({ findings }: Pick<RunStream, 'findings'>): RunStream['findings'] {
  return findings.filter(({ code }) => code === 'continuity/grown');
}
