import { randomUUID } from 'node:crypto';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { GENESIS } from '../../core/wire.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { type Claim, Claims, claimOf, keyOfAnother } from '../idempotency/claims.ts';
import {
  type Added,
  addEntries,
  createStreams,
  type EntryRow,
  findEntry,
  type Head,
  lockHeads,
  moveHeads,
} from './repository.ts';
import type { NewEntry } from './requests.ts';
import { hashEntry, sealHash, timestampOf } from './rules.ts';
import type { DerivedSealKeys } from './seal-keys.ts';

export interface Appended {
  row: EntryRow;
  /** It was there already, under the same idempotency key. */
  repeated: boolean;
}

/** Entries that are appended together or not at all. */
export interface AppendRequest {
  entries: readonly NewEntry[];
  /** The idempotency key of the request as a whole. */
  key?: string | undefined;
}

/** What came of one request. */
export type Outcome = { appended: Appended[] } | { refused: DomainError };

export interface AppendMeans {
  keys: DerivedSealKeys;
  clock: () => Date;
}

/**
 * Appends what several requests bring, each of them to the heads of its streams, in order. The heads are this
 * transaction's until it ends: nobody else appends to these streams meanwhile. A request that is refused leaves nothing
 * and is in nobody's way.
 */
export async function appendAll(
  transaction: Transaction,
  { keys, clock }: AppendMeans,
  requests: readonly AppendRequest[],
): Promise<Outcome[]> {
  const claimed = requests.map(withClaims);
  const streamIds = [...new Set(requests.flatMap(({ entries }) => entries.map(({ stream_id }) => stream_id)))].sort();
  const now = clock();
  const heads = await lockHeads(transaction, streamIds);
  const claims = new Claims(now);
  await claims.read(transaction, claimed.flatMap(claimsOf));
  const group = new Group(heads, claims, keys, now);
  const outcomes: Outcome[] = [];
  for (const request of claimed) outcomes.push(await group.attempt(request, transaction));
  await createStreams(transaction, group.begun(), now);
  await addEntries(transaction, group.added);
  await moveHeads(transaction, group.moved());
  await claims.write(transaction);
  return outcomes;
}

interface ClaimedEntry {
  entry: NewEntry;
  claim: Claim | null;
}

interface ClaimedRequest {
  entries: readonly ClaimedEntry[];
  claim: Claim | null;
}

function withClaims({ entries, key }: AppendRequest): ClaimedRequest {
  return {
    entries: entries.map((entry) => ({
      entry,
      claim: entry.idempotency_key === undefined ? null : claimOf('audit/entries', entry.idempotency_key, withoutKey(entry)),
    })),
    claim: key === undefined ? null : claimOf('audit/entries/batch', key, entries.map(withoutKey)),
  };
}

function claimsOf({ entries, claim }: ClaimedRequest): Claim[] {
  return [claim, ...entries.map((entry) => entry.claim)].filter((each) => each !== null);
}

function withoutKey({ idempotency_key: _, ...content }: NewEntry): Json {
  return content as Json;
}

/** Where an entry that a claim led to is. */
type Place = [streamId: string, sequence: number];

/** Requests that share a transaction, on top of what was recorded before it. */
class Group {
  readonly #heads: Map<string, Head>;
  readonly #claims: Claims;
  readonly #keys: DerivedSealKeys;
  readonly #now: Date;
  readonly added: Added[] = [];

  constructor(heads: Map<string, Head>, claims: Claims, keys: DerivedSealKeys, now: Date) {
    this.#heads = heads;
    this.#claims = claims;
    this.#keys = keys;
    this.#now = now;
  }

  /** The heads that are others than before. */
  moved(): Head[] {
    return [...new Set(this.added.map(({ head }) => head))];
  }

  /** Those of streams that were not there before. */
  begun(): Head[] {
    return this.moved().filter(({ streamNo }) => streamNo === null);
  }

  async attempt(request: ClaimedRequest, transaction: Transaction): Promise<Outcome> {
    try {
      return { appended: await this.#append(request, transaction) };
    } catch (error) {
      if (error instanceof DomainError) return { refused: error };
      throw error;
    }
  }

  async #append({ entries, claim }: ClaimedRequest, transaction: Transaction): Promise<Appended[]> {
    const earlier = claim === null ? null : this.#claims.resultOf(claim);
    if (earlier !== null) return this.#repeat(JSON.parse(earlier) as Place[], transaction);
    this.#refuse(entries);
    const appended: Appended[] = [];
    for (const entry of entries) appended.push(await this.#appendOne(entry, transaction));
    if (claim !== null) this.#claims.keep(claim, JSON.stringify(appended.map(({ row }) => placeOf(row))));
    return appended;
  }

  /** Looks at all before anything is done, so that nothing is done of what is refused. @throws DomainError */
  #refuse(entries: readonly ClaimedEntry[]): void {
    const claimed = new Map<string, string>();
    for (const { entry, claim } of entries) {
      timestampOf(this.#now, this.#headOf(entry.stream_id).lastEntryAt);
      if (claim === null) continue;
      this.#claims.resultOf(claim);
      if ((claimed.get(claim.id) ?? claim.bodySha256) !== claim.bodySha256) throw keyOfAnother();
      claimed.set(claim.id, claim.bodySha256);
    }
  }

  async #repeat(places: readonly Place[], transaction: Transaction): Promise<Appended[]> {
    const repeated: Appended[] = [];
    for (const place of places) repeated.push({ row: await this.#find(place, transaction), repeated: true });
    return repeated;
  }

  async #appendOne({ entry, claim }: ClaimedEntry, transaction: Transaction): Promise<Appended> {
    const earlier = claim === null ? null : this.#claims.resultOf(claim);
    if (earlier !== null)
      return { row: await this.#find(JSON.parse(earlier) as Place, transaction), repeated: true };
    const head = this.#headOf(entry.stream_id);
    const row = this.#seal(entry, head);
    this.added.push({ row, head });
    if (claim !== null) this.#claims.keep(claim, JSON.stringify(placeOf(row)));
    Object.assign(head, {
      sequence: row.sequence,
      count: head.count + 1,
      hash: row.hash,
      lastEntryAt: row.timestamp,
    });
    return { row, repeated: false };
  }

  #seal(entry: NewEntry, head: Head): EntryRow {
    const { id, key } = this.#keys.current(entry.stream_id);
    const content = {
      entry_id: randomUUID(),
      stream_id: entry.stream_id,
      sequence: head.sequence + 1,
      timestamp: timestampOf(this.#now, head.lastEntryAt),
      occurred_at: entry.occurred_at ?? null,
      actor: entry.actor,
      action: entry.action,
      resource_type: entry.resource_type,
      resource_id: entry.resource_id,
      metadata: canonicalize(entry.metadata ?? {}),
      prev_hash: head.hash ?? GENESIS,
      seal_key_id: id,
    };
    const hash = hashEntry(content);
    return { ...content, hash, seal: sealHash(key, hash) };
  }

  /** An entry of this group, or of before. */
  async #find([streamId, sequence]: Place, transaction: Transaction): Promise<EntryRow> {
    const added = this.added.find(({ row }) => row.stream_id === streamId && row.sequence === sequence);
    return added?.row ?? findEntry(transaction, streamId, sequence);
  }

  #headOf(streamId: string): Head {
    const head = this.#heads.get(streamId);
    if (head === undefined) throw new Error('a stream was not locked before something was appended to it');
    return head;
  }
}

function placeOf({ stream_id, sequence }: EntryRow): Place {
  return [stream_id, sequence];
}
