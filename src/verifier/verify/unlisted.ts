import type { Rows } from '../../core/rows/rows.ts';
import type { RunRecord } from '../records/record.ts';
import { whyExcluded } from '../records/stream-glob.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import type { RunContext, VerifiedStream } from './stream.ts';

/** A package of the account may hold streams in scope that the list of streams does not have: the run says so of each. */
export function checkHidden(record: RunRecord, streams: readonly VerifiedStream[], key: string): ObjectFinding[] {
  const { scope, stream_list, vanished } = record;
  const told = new Set([...stream_list.streams, ...vanished].map(({ stream_id }) => stream_id));
  const held = new Set(streams.flatMap(({ others }) => others));
  return [...held]
    .filter((streamId) => !told.has(streamId) && whyExcluded(streamId, scope) === null)
    .map((streamId) =>
      toObjectFinding(
        'history/gap',
        key,
        `the run has entries of the stream "${streamId}", which the list of streams does not have, and does not say so`,
      ),
    );
}

/** A stream can only be missed that an earlier run had seen, or an earlier try of this one. */
export function checkVanished(context: RunContext, record: RunRecord, key: string): ObjectFinding[] {
  return [...record.vanished, ...record.ended]
    .filter(({ stream_id, head: { run_id, sequence, hash } }) => {
      const own = record.streams.find((stream) => run_id === record.run_id && stream.stream_id === stream_id);
      const head = own === undefined ? context.headOf(run_id, stream_id) : own.head;
      return head?.sequence !== sequence || head.hash !== hash;
    })
    .map(({ stream_id }) =>
      toObjectFinding(
        'record/differs',
        key,
        `misses the stream "${stream_id}" by a head that the ledger does not have`,
      ),
    );
}

/** Finds each stream in scope that the ledger had when the run began, and that the run says nothing of. */
export function checkMissed(context: RunContext, record: RunRecord, key: string): ObjectFinding[] {
  const { scope, stream_list, streams, vanished, ended } = record;
  const told = new Set([stream_list.streams, streams, vanished, ended].flatMap(idsOf));
  return Array.from(context.headsBefore(record))
    .filter(([streamId]) => !told.has(streamId) && whyExcluded(streamId, scope) === null)
    .map(([streamId, { run_id, sequence }]) =>
      toObjectFinding(
        'history/gap',
        key,
        `run ${run_id} has entries of the stream "${streamId}" up to ${sequence}, and this run neither lists it nor says that it vanished or ended`,
      ),
    );
}

function idsOf(streams: Rows<{ stream_id: string }>): string[] {
  return streams.map(({ stream_id }) => stream_id);
}
