import { findBy } from '../../core/rows/rows.ts';
import { type Outcome, worstOf } from './outcome.ts';
import type { Reconciliation, RunRecord, RunStream, StreamList } from './record.ts';
import { outcomesOfSupplements } from './supplements.ts';

/**
 * Violation of a relation that holds within every run record, for exports and verifications alike:
 *
 * - each page of the list has as many streams as it states, and each stream is listed once;
 * - a stream is in one of `streams`, `failed` and `excluded`; those of the last two are listed, those of the first are
 *   listed or vanished;
 * - for a stream that this attempt received, the list states the same as recorded in its bundle;
 * - for a stream that an earlier attempt received, the list states no less, and no other entry in the same place.
 *
 * `impossible`: no export writes this. `contradicts`: the service states less than before, or something else. `grown`:
 * the service states more than when the stream was received.
 */
interface Disagreement {
  kind: 'impossible' | 'contradicts' | 'grown';
  /** Null if it is not about one stream. */
  stream_id: string | null;
  message: string;
}

type Listed = StreamList['streams'] extends Iterable<infer Row> ? Row : never;
type Received = Pick<RunStream, 'stream_id' | 'head' | 'service' | 'collected'>;

/** Returns every violated relation within a run record. */
export function disagreementsIn(record: RunRecord): Disagreement[] {
  const { stream_list: list, streams, failed, excluded } = record;
  const onPages = list.pages.reduce((sum, page) => sum + page.streams, 0);
  return [
    ...(onPages === list.streams.length
      ? []
      : [impossible(null, `the pages of its list have ${onPages} streams, and the list ${list.streams.length}`)]),
    ...repeatedIn([list.streams]).map((id) => impossible(id, 'is listed twice')),
    ...repeatedIn([streams, failed, excluded]).map((id) => impossible(id, 'is in two of streams, failed and excluded')),
    ...comparedWithList(record),
  ];
}

function impossible(stream_id: string | null, message: string): Disagreement {
  return { kind: 'impossible', stream_id, message };
}

function comparedWithList(record: RunRecord): Disagreement[] {
  const { stream_list: list, streams, failed, excluded, vanished, started_at } = record;
  const find = findBy(list.streams, ({ stream_id }) => stream_id);
  const gone = new Set(vanished.map(({ stream_id }) => stream_id));
  return [
    ...[...failed, ...excluded]
      .filter(({ stream_id }) => find(stream_id) === undefined)
      .map(({ stream_id }) => impossible(stream_id, 'is failed or excluded, and was not listed')),
    ...streams.flatMap((stream) => {
      const statement = find(stream.stream_id);
      if (statement !== undefined) return compareWithList(stream, statement, started_at);
      if (stream.head === null || gone.has(stream.stream_id)) return [];
      return [impossible(stream.stream_id, 'was exported, and is neither listed nor vanished')];
    }),
  ];
}

type Parts = Pick<RunRecord, 'streams' | 'failed' | 'excluded' | 'vanished'>;

/** Counts every listed stream in exactly one class. A stream that vanished after its export is in none. */
export function countRunStreams({ streams, failed, excluded, vanished }: Parts): Omit<Reconciliation, 'supplements'> {
  const gone = new Set(vanished.map(({ stream_id }) => stream_id));
  const held = streams.filter(({ stream_id }) => !gone.has(stream_id));
  const partial = held.filter((stream) => stream.partial || stream.status === 'incomplete').length;
  const empty = held.filter((stream) => !stream.partial && stream.status === 'empty').length;
  return {
    listed: held.length + failed.length + excluded.length,
    exported: held.length - partial - empty,
    partial,
    failed: failed.length,
    empty,
    excluded: excluded.length,
  };
}

/** Returns the worst outcome of the streams and supplements of a run. */
export function toRunOutcome({ streams, failed, vanished }: Parts, supplements: RunRecord['supplements']): Outcome {
  return worstOf([
    ...vanished.map(() => 'refuted' as const),
    ...streams.map((stream) => (stream.partial && stream.status !== 'refuted' ? 'incomplete' : stream.status)),
    ...failed.map(() => 'incomplete' as const),
    ...outcomesOfSupplements(supplements),
  ]);
}

/** Compares a received stream with the list of an attempt. @param startedAt start of that attempt. */
export function compareWithList(
  stream: Received,
  listed: Omit<Listed, 'stream_id'>,
  startedAt: string,
): Disagreement[] {
  const { stream_id, head, service, collected } = stream;
  const said = { entries: service.entries, head: service.head };
  const now = { entries: listed.entries, head: listed.head };
  if (collected.export_started_at === startedAt)
    return isSameStatement(said, now)
      ? []
      : [{ kind: 'impossible', stream_id, message: 'is listed otherwise than its bundle says' }];
  // Another process may have received the stream after the list was read.
  if (!(Date.parse(collected.received_at) <= Date.parse(startedAt))) return [];
  const before = head === null ? [said.head] : [said.head, head];
  const contradicts = (message: string): Disagreement[] => [{ kind: 'contradicts', stream_id, message }];
  for (const { sequence, hash } of before) {
    if (sequence === null || now.head.sequence === null) continue;
    if (now.head.sequence < sequence)
      return contradicts(`it holds entries up to ${sequence}, and the service now ends at ${now.head.sequence}`);
    if (now.head.sequence === sequence && hash !== null && now.head.hash !== null && now.head.hash !== hash)
      return contradicts(`the service now states another digest of entry ${sequence}`);
  }
  if (said.entries === null || now.entries === null || said.entries === now.entries) return [];
  if (now.entries < said.entries)
    return contradicts(`the service stated ${said.entries} entries when it was received, and ${now.entries} now`);
  const message = `the service stated ${said.entries} entries when it was received, and ${now.entries} when the run was finalized`;
  return [{ kind: 'grown', stream_id, message }];
}

function isSameStatement(one: Omit<Listed, 'stream_id'>, other: Omit<Listed, 'stream_id'>): boolean {
  return (
    one.entries === other.entries && one.head.sequence === other.head.sequence && one.head.hash === other.head.hash
  );
}

/** Returns the ids of streams that occur in these lists more than once. */
function repeatedIn(lists: readonly Iterable<{ stream_id: string }>[]): string[] {
  const seen = new Set<string>();
  const repeated: string[] = [];
  for (const list of lists)
    for (const { stream_id } of list) if (seen.size === seen.add(stream_id).size) repeated.push(stream_id);
  return repeated;
}
