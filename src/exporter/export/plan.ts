import { EvidenceError } from '../../core/errors.ts';
import { type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import { toStatementDocument } from '../../verifier/bundle/known.ts';
import { slugOf } from '../../verifier/bundle/layout.ts';
import { lengthOf } from '../../verifier/claims/ranges.ts';
import { describeRestart } from '../../verifier/claims/restart.ts';
import type { Restart, Span } from '../../verifier/claims/schemas.ts';
import { isPlaced } from '../../verifier/claims/span.ts';
import type { StreamStatement } from '../../verifier/claims/statement.ts';
import type { Past } from '../../verifier/ledger/past.ts';
import { toStreamFinding } from '../../verifier/model/stream-finding.ts';
import type { Question } from '../../verifier/records/question.ts';
import {
  type Exclusion,
  type LedgerHead,
  MAX_RUN_RECORD_BYTES,
  type StreamList,
  type StreamRecord,
  type Vanished,
} from '../../verifier/records/record.ts';
import { exclusionOf } from '../../verifier/records/stream-glob.ts';

/** Ledger heads by stream id. */
export interface StreamHeads extends Iterable<[streamId: string, head: LedgerHead]> {
  get(streamId: string): LedgerHead | undefined;
  has(streamId: string): boolean;
}

/** Globs over stream ids. */
type Filter = Pick<Question['scope'], 'streams' | 'exclude'>;

/** Stream as the service lists it. */
export interface ListedStream extends StreamStatement {
  streamId: string;
  /** Mismatch between the stream's record and the contract; such a stream is not exported. Null if there is none. */
  drift: string | null;
  /** The stream's record in the list, as JSON. */
  record: string;
}

/** Finds a stream in the service's present list by its id. */
export type FindListed = (streamId: string) => ListedStream | undefined;

export interface StreamSelection {
  included: Rows<ListedStream>;
  excluded: Exclusion[];
  /** All listed streams, in list order. */
  list: StreamList;
}

type ListedRow = StreamList['streams'] extends Rows<infer Row> ? Row : never;

/**
 * Selects the listed streams in scope, and gives the reason that each other stream is excluded.
 * @param pages of the list, which are complete once it has ended.
 * @throws EvidenceError `service` if the list contains a stream twice; `usage` if two streams in scope have the same
 * slug, or if there are more streams than a run can record.
 */
export async function selectStreams(
  listed: AsyncIterable<ListedStream>,
  scope: Filter,
  pages: StreamList['pages'] = [],
): Promise<StreamSelection> {
  const included = new RowsBuilder<ListedStream>();
  const excluded: StreamSelection['excluded'] = [];
  const all = new RowsBuilder<ListedRow>();
  const seen = new Set<string>();
  const named = new Map<string, string>();
  for await (const stream of listed) {
    const { streamId } = stream;
    if (seen.has(streamId))
      throw new EvidenceError('service', `the service lists the stream "${streamId}" twice`, {
        nextStep: 'Ask the operator of the service; earlier archived bundles are kept.',
      });
    seen.add(streamId);
    all.push({ stream_id: streamId, ...toStatementDocument(stream) });
    const exclusion = exclusionOf(streamId, scope);
    if (exclusion !== null) excluded.push(exclusion);
    else {
      claimName(named, streamId);
      included.push(stream);
    }
  }
  const selection = { included: included.finish(), excluded, list: { pages, streams: all.finish() } };
  refuseTooMany(selection);
  return selection;
}

/** Upper estimate of the bytes of a stream in the run record, and the number of times that its id occurs there. */
const EXPORTED = { bytes: 3500, ids: 8 };
const LISTED = { bytes: 400, ids: 2 };
const PAGE_BYTES = 250;

/** Estimates the bytes that a selection takes in the run record. */
function recordBytesOf({ included, list }: StreamSelection): number {
  const idBytes = (id: string) => Buffer.byteLength(JSON.stringify(id));
  return (
    sumOf(included, ({ streamId }) => EXPORTED.bytes + EXPORTED.ids * idBytes(streamId)) +
    sumOf(list.streams, ({ stream_id: id }) => LISTED.bytes + LISTED.ids * idBytes(id)) +
    sumOf(list.pages, ({ path }) => PAGE_BYTES + path.length)
  );
}

function sumOf<T>(all: Rows<T>, bytesOf: (one: T) => number): number {
  return all.reduce((sum, one) => sum + bytesOf(one), 0);
}

function refuseTooMany(selection: StreamSelection): void {
  const { included, list } = selection;
  if (recordBytesOf(selection) <= MAX_RUN_RECORD_BYTES) return;
  throw new EvidenceError(
    'usage',
    `${included.length} streams of ${list.streams.length} are too many for one run, which can record about 250,000 with short ids`,
    { nextStep: 'Nothing was exported. Export them in several runs, with --stream.' },
  );
}

/** @param named ids by their slugs in the run, see `slugOf`. */
function claimName(named: Map<string, string>, streamId: string): void {
  const slug = slugOf(streamId);
  const other = named.get(slug);
  if (other !== undefined)
    throw new EvidenceError(
      'usage',
      `the streams "${other}" and "${streamId}" would have the same name in the archive: ${slug}`,
      {
        nextStep:
          'Nothing was exported. Leave one of them out with --exclude, and export it in a separate run with --stream and --request.',
      },
    );
  named.set(slug, streamId);
}

/**
 * Returns the streams in scope that have a head in the ledger and that the service no longer lists.
 * @param heads by stream id. @param spans of earlier runs, by stream id.
 */
export function findVanished(
  selection: StreamSelection,
  scope: Filter,
  heads: StreamHeads,
  spans: Past['spans'],
): Vanished[] {
  return unlistedIn(selection, scope, heads).map(([streamId, head]) => {
    const { sequence, hash, run_id } = head;
    const message = `the service no longer lists the stream; run ${run_id} exported it up to entry ${sequence}`;
    const finding = toStreamFinding('continuity/stream-vanished', streamId, message, { sequence, expected: hash });
    return { stream_id: streamId, head, entries: countEntries(spans.get(streamId) ?? []), finding };
  });
}

/**
 * Returns the streams in scope that the service does not list and whose end or restart was accepted.
 * @param restarts by stream id. @param heads of streams that were exported since.
 */
export function findEnded(
  selection: StreamSelection,
  scope: Filter,
  restarts: ReadonlyMap<string, readonly Restart[]>,
  heads: StreamHeads,
): Vanished[] {
  return unlistedIn(selection, scope, restarts).flatMap(([streamId, accepted]) => {
    const newest = accepted.at(-1);
    if (newest === undefined || heads.has(streamId)) return [];
    const { head, earlier } = newest;
    const { sequence, hash, run_id } = head;
    const message = `the service does not list the stream; run ${run_id} exported it up to entry ${sequence}; ${describeRestart(newest)}`;
    const finding = toStreamFinding('continuity/accepted-missing', streamId, message, { sequence, expected: hash });
    return [{ stream_id: streamId, head, entries: countEntries(earlier), finding }];
  });
}

/** Returns the given streams that are in scope and that the service does not list. */
function unlistedIn<Value>(
  { included, excluded }: StreamSelection,
  scope: Filter,
  streams: Iterable<[streamId: string, Value]>,
): [streamId: string, Value][] {
  const listed = new Set([...included.map(({ streamId }) => streamId), ...excluded.map(({ stream_id }) => stream_id)]);
  const unlisted: [string, Value][] = [];
  for (const pair of streams) if (!listed.has(pair[0]) && exclusionOf(pair[0], scope) === null) unlisted.push(pair);
  return unlisted;
}

/** Counts the distinct sequence numbers in the spans. */
function countEntries(spans: readonly Span[]): number {
  return lengthOf(
    spans.filter(isPlaced).map(({ entries }) => ({ from: entries.first_sequence, to: entries.head.sequence })),
  );
}

/** Returns the streams in scope that the account's package contains but the list of streams does not. */
export function findHidden(selection: StreamSelection, scope: Filter, streamIds: readonly string[]): ListedStream[] {
  const held = new Map(streamIds.map((streamId) => [streamId, streamId]));
  return unlistedIn(selection, scope, held).map(([streamId]) => ({
    streamId,
    entryCount: null,
    headSequence: null,
    headDigest: null,
    drift: null,
    record: 'null',
  }));
}

/**
 * Returns the streams that this run has, from an earlier attempt or the account's package, and that the service does
 * not list.
 */
export function findUnlisted(
  { included, excluded }: StreamSelection,
  runId: string,
  recorded: Rows<Pick<StreamRecord, 'stream_id' | 'entries' | 'head'>>,
): Vanished[] {
  const listed = new Set([...included.map(({ streamId }) => streamId), ...excluded.map(({ stream_id }) => stream_id)]);
  return recorded.flatMap(({ stream_id, entries, head }) => {
    // A stream without entries has no evidence that could be missed.
    if (listed.has(stream_id) || head === null) return [];
    const { sequence, hash } = head;
    const message = `the service does not list the stream, and this run exported it up to entry ${sequence}`;
    const finding = toStreamFinding('continuity/stream-vanished', stream_id, message, { sequence, expected: hash });
    return [{ stream_id, head: { ...head, run_id: runId }, entries, finding }];
  });
}
