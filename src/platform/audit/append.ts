import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { type KeyedRequest, KeyedResults, keyedRequest, keyOfAnother } from '../idempotency/keyed-results.ts';
import { createStreams, lockHeads, moveHeads, refuseDamaged, type StreamHead } from './head-rows.ts';
import type { CheckedEntry } from './metadata.ts';
import { type Added, addEntries, type EntryRow, entryAt } from './repository.ts';
import { sealOnto } from './rules.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import type { RowSeals } from './sealed-rows.ts';
import { addToTotals, countByHour } from './totals.ts';

export interface Appended {
  row: EntryRow;
  /** True if the entry was already recorded under the same idempotency key. */
  repeated: boolean;
}

/** Entries that are appended together or not at all. */
export interface AppendRequest {
  entries: readonly CheckedEntry[];
  /** Authenticated caller. */
  recordedBy: string;
  /** Idempotency key of the whole request. */
  key?: string | undefined;
}

/** Result of one request. */
export type AppendOutcome = { appended: Appended[] } | { refused: DomainError };

export interface AppendDeps {
  keys: DerivedSealKeys;
  seals: RowSeals;
  clock: () => Date;
}

/**
 * Appends the entries of several requests to the heads of their streams, in order. This transaction locks the heads
 * until it ends, so no other transaction appends to these streams. A refused request appends nothing and does not
 * affect the others.
 */
export async function appendAll(
  transaction: Transaction,
  { keys, seals, clock }: AppendDeps,
  requests: readonly AppendRequest[],
): Promise<AppendOutcome[]> {
  const appends = requests.map(withKeys);
  const streamIds = [...new Set(requests.flatMap(({ entries }) => entries.map(({ stream_id }) => stream_id)))].sort();
  const now = clock();
  const heads = await lockHeads(transaction, seals, streamIds, now);
  const results = new KeyedResults(now);
  await results.read(transaction, appends.flatMap(requestsOf));
  const group = new Group(heads, results, keys, now);
  const outcomes: AppendOutcome[] = [];
  for (const append of appends) outcomes.push(await group.attempt(append, transaction));
  const moved = group.moved();
  const begun = moved.filter(({ streamNo }) => streamNo === null);
  await createStreams(transaction, seals, begun);
  await addEntries(transaction, group.added);
  await results.write(transaction);
  const lane = await moveHeads(transaction, seals, moved);
  await countByHour(transaction, group.added, lane);
  if (begun.length > 0)
    await addToTotals(transaction, seals, { streams: begun.length, verified: 0, failed: 0, reached: 0 });
  return outcomes;
}

type KeyedAppend = ReturnType<typeof withKeys>;
type KeyedEntry = KeyedAppend['entries'][number];

function withKeys({ entries, key, recordedBy }: AppendRequest) {
  return {
    entries: entries.map((entry) => ({
      entry: { ...entry, recordedBy },
      request: keyedRequest('audit/entries', entry.idempotency_key, withoutKey(entry)),
    })),
    request: keyedRequest('audit/entries/batch', key, entries.map(withoutKey)),
  };
}

function requestsOf({ entries, request }: KeyedAppend): KeyedRequest[] {
  return [request, ...entries.map((entry) => entry.request)].filter((each) => each !== null);
}

function withoutKey({ idempotency_key: _, metadataText: __, ...content }: CheckedEntry): Json {
  return content as Json;
}

/** Place of an entry that a request produced. */
type Place = [streamId: string, sequence: number];

/** Requests that share a transaction. They build on the entries recorded before the transaction. */
class Group {
  readonly #heads: Map<string, StreamHead>;
  readonly #results: KeyedResults;
  readonly #keys: DerivedSealKeys;
  readonly #now: Date;
  /** New streams by their likeness. */
  readonly #begun = new Map<string, string>();
  readonly added: Added[] = [];

  constructor(heads: Map<string, StreamHead>, results: KeyedResults, keys: DerivedSealKeys, now: Date) {
    this.#heads = heads;
    this.#results = results;
    this.#keys = keys;
    this.#now = now;
  }

  /** Returns the heads that have changed. */
  moved(): StreamHead[] {
    return [...new Set(this.added.map(({ head }) => head))];
  }

  async attempt(append: KeyedAppend, transaction: Transaction): Promise<AppendOutcome> {
    try {
      return { appended: await this.#append(append, transaction) };
    } catch (error) {
      if (error instanceof DomainError) return { refused: error };
      throw error;
    }
  }

  async #append({ entries, request }: KeyedAppend, transaction: Transaction): Promise<Appended[]> {
    const earlier = request === null ? null : this.#results.resultOf(request);
    if (earlier !== null) return this.#repeat(JSON.parse(earlier) as Place[], entries, transaction);
    this.#refuse(entries);
    const appended: Appended[] = [];
    for (const entry of entries) appended.push(await this.#appendOne(entry, transaction));
    if (request !== null) this.#results.keep(request, JSON.stringify(appended.map(({ row }) => placeOf(row))));
    return appended;
  }

  /** Checks all entries before any is appended, so that a refused request changes nothing. @throws DomainError */
  #refuse(entries: readonly KeyedEntry[]): void {
    const bodies = new Map<string, string>();
    const begun = new Map(this.#begun);
    for (const { entry, request } of entries) {
      const head = this.#headOf(entry.stream_id);
      refuseDamaged(head);
      refuseSimilar(head, begun);
      if (request === null) continue;
      this.#results.resultOf(request);
      if ((bodies.get(request.id) ?? request.bodySha256) !== request.bodySha256) throw keyOfAnother();
      bodies.set(request.id, request.bodySha256);
    }
  }

  async #repeat(
    places: readonly Place[],
    entries: readonly KeyedEntry[],
    transaction: Transaction,
  ): Promise<Appended[]> {
    const repeated: Appended[] = [];
    for (const [at, { entry }] of entries.entries())
      repeated.push({ row: await this.#find(places[at], entry, transaction), repeated: true });
    return repeated;
  }

  async #appendOne({ entry, request }: KeyedEntry, transaction: Transaction): Promise<Appended> {
    const earlier = request === null ? null : this.#results.resultOf(request);
    if (earlier !== null)
      return { row: await this.#find(JSON.parse(earlier) as Place, entry, transaction), repeated: true };
    const head = this.#headOf(entry.stream_id);
    const { row, before } = sealOnto(head, entry, this.#keys, this.#now);
    for (const each of [...before, row]) this.added.push({ row: each, head });
    if (head.streamNo === null) this.#begun.set(head.likeness, head.streamId);
    if (request !== null) this.#results.keep(request, JSON.stringify(placeOf(row)));
    return { row, repeated: false };
  }

  /**
   * Returns an entry of this group or one recorded earlier.
   * @throws DomainError `stream_damaged` if it is not what the request says: results have no seals, and who writes one
   * into the database must not keep an entry from being recorded.
   */
  async #find(place: Place | undefined, entry: CheckedEntry, transaction: Transaction): Promise<EntryRow> {
    const [streamId, sequence] = place ?? [entry.stream_id, 0];
    const added = this.added.find(({ row }) => row.stream_id === streamId && row.sequence === sequence);
    const row = added?.row ?? (await entryAt(transaction, streamId, sequence));
    if (row !== undefined && isEntryOf(row, entry)) return row;
    throw new DomainError(
      'stream_damaged',
      `the entry that this request recorded before, ${sequence} of ${JSON.stringify(streamId)}, is missing or was changed outside the service; nothing was added; send the request with another idempotency key`,
    );
  }

  #headOf(streamId: string): StreamHead {
    const head = this.#heads.get(streamId);
    if (head === undefined) throw new Error('a stream was not locked before something was appended to it');
    return head;
  }
}

const SENT = ['stream_id', 'actor', 'action', 'resource_type', 'resource_id'] as const;

function isEntryOf(row: EntryRow, entry: CheckedEntry): boolean {
  const isRest = row.metadata === entry.metadataText && row.occurred_at === (entry.occurred_at ?? null);
  return isRest && SENT.every((column) => row[column] === entry[column]);
}

function placeOf({ stream_id, sequence }: EntryRow): Place {
  return [stream_id, sequence];
}

/**
 * @param begun streams that begin in the same transaction, by their likeness; adds a stream that does not exist.
 * @throws DomainError `stream_resembles` if the stream does not exist, and another looks like it.
 */
function refuseSimilar({ streamId, streamNo, likeness, resembles }: StreamHead, begun: Map<string, string>): void {
  if (streamNo !== null) return;
  const other = resembles ?? begun.get(likeness) ?? streamId;
  begun.set(likeness, streamId);
  if (other === streamId) return;
  throw new DomainError(
    'stream_resembles',
    `there is no stream ${JSON.stringify(streamId)}, and its ID looks like that of ${JSON.stringify(other)}; nothing was added`,
    { stream_id: other },
    'stream_id',
  );
}
