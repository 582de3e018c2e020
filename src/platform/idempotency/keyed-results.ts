import { hash } from 'node:crypto';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { type Database, InTheWay, type Reader, type Transaction } from '../database/database.ts';
import { kindsOf } from '../database/table.ts';
import { DomainError } from '../errors.ts';
import { type Job, TIDY_MS } from '../jobs/scheduler.ts';
import { IDEMPOTENCY_TABLES, type IdempotencyTables } from './tables.ts';

/** Request with an idempotency key; repeating the request returns the same result and has no further effect. */
export interface KeyedRequest {
  /** Hex SHA-256 over the scope of the key and the key, either of which may be too long for an index of PostgreSQL. */
  id: string;
  /** Digest of the request's body. */
  bodySha256: string;
}

const COLUMNS = kindsOf(IDEMPOTENCY_TABLES.keyed_results, ['request', 'body_sha256', 'result', 'until']);

/**
 * Returns a request with its key; null if it has none.
 * @param scope of the operation; a key has one result in each scope.
 * @param key as returned by `ownKey`.
 */
export function keyedRequest(scope: string, key: string | undefined, body: Json): KeyedRequest | null {
  if (key === undefined) return null;
  return {
    id: hash('sha256', JSON.stringify([scope, key]), 'hex'),
    bodySha256: hash('sha256', canonicalize(body), 'hex'),
  };
}

/**
 * Results of requests. If another process handles one of them at the same time, the write conflicts, and the
 * transaction runs again.
 */
export class KeyedResults {
  readonly #now: Date;
  readonly #known = new Map<string, { bodySha256: string; result: string }>();
  readonly #outdated: string[] = [];
  readonly #made: IdempotencyTables['keyed_results'][] = [];

  constructor(now: Date) {
    this.#now = now;
  }

  /** Reads the earlier results of these requests. */
  async read(reader: Reader, requests: readonly KeyedRequest[]): Promise<void> {
    if (requests.length === 0) return;
    const ids = [...new Set(requests.map(({ id }) => id))];
    const all = reader.tables<IdempotencyTables>().selectFrom('keyed_results').selectAll();
    const rows = await all.where(reader.sql.isAmong('request', ids)).execute();
    const now = this.#now.toISOString();
    for (const row of rows)
      if (row.until <= now) this.#outdated.push(row.request);
      else this.#known.set(row.request, { bodySha256: row.body_sha256, result: row.result });
  }

  /**
   * Returns the result of the same request; null if the request is new.
   * @throws DomainError `idempotency_conflict` if the key was used with another body.
   */
  resultOf({ id, bodySha256 }: KeyedRequest): string | null {
    const known = this.#known.get(id);
    if (known === undefined) return null;
    if (known.bodySha256 !== bodySha256) throw keyOfAnother();
    return known.result;
  }

  /** Keeps the result of a request for `KEY_LIFETIME_MS`. */
  keep({ id, bodySha256 }: KeyedRequest, result: string): void {
    const until = new Date(this.#now.getTime() + KEY_LIFETIME_MS).toISOString();
    this.#known.set(id, { bodySha256, result });
    this.#made.push({ request: id, body_sha256: bodySha256, result, until });
  }

  /** Writes the new results. @throws InTheWay if another process handled one of these requests in the meantime. */
  async write(transaction: Transaction): Promise<void> {
    const { isAmong } = transaction.sql;
    const results = transaction.tables<IdempotencyTables>();
    if (this.#outdated.length > 0)
      await results.deleteFrom('keyed_results').where(isAmong('request', this.#outdated)).execute();
    try {
      await transaction.insertAll('keyed_results', COLUMNS, this.#made);
    } catch (error) {
      // Error unique_violation of PostgreSQL. SQLite has a single writer, which has already read the results.
      if ((error as { code?: string }).code === '23505')
        throw new InTheWay('the request was made meanwhile', { cause: error });
      throw error;
    }
  }
}

/** Time for which results are kept, which outlasts a weekend without anybody to mend a client. */
export const KEY_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

/** Returns the result of the same request; null if the request is new. @throws DomainError `idempotency_conflict`. */
export async function earlierResult(reader: Reader, keyed: KeyedRequest | null, now: Date): Promise<string | null> {
  if (keyed === null) return null;
  const results = new KeyedResults(now);
  await results.read(reader, [keyed]);
  return results.resultOf(keyed);
}

/**
 * Runs a request, unless the same request was made before.
 * @param keyed null for a request without an idempotency key.
 * @param resultOf returns the result to keep.
 * @returns the new object, or the earlier result.
 * @throws DomainError `idempotency_conflict`; as `make` does.
 */
export async function makeOnce<T>(
  transaction: Transaction,
  { keyed, now }: { keyed: KeyedRequest | null; now: Date },
  make: () => Promise<T>,
  resultOf: (made: T) => string,
): Promise<{ made: T } | { earlier: string }> {
  if (keyed === null) return { made: await make() };
  const results = new KeyedResults(now);
  await results.read(transaction, [keyed]);
  const earlier = results.resultOf(keyed);
  if (earlier !== null) return { earlier };
  const made = await make();
  results.keep(keyed, resultOf(made));
  await results.write(transaction);
  return { made };
}

/**
 * Makes something in a transaction, unless the same request made it before.
 * @param keyed null for a request without an idempotency key.
 * @param make returns its id.
 * @returns the id, new or earlier.
 * @throws DomainError `idempotency_conflict`; as `make` does.
 */
export function makeIdOnce(
  { database, clock }: { database: Database; clock: () => Date },
  keyed: KeyedRequest | null,
  make: (transaction: Transaction) => Promise<string>,
): Promise<string> {
  return database.write(async (transaction) => {
    const outcome = await makeOnce(transaction, { keyed, now: clock() }, () => make(transaction), String);
    return 'made' in outcome ? outcome.made : outcome.earlier;
  });
}

export function keyOfAnother(): DomainError {
  return new DomainError(
    'idempotency_conflict',
    'this idempotency key was already used for a request with a different body',
  );
}

/** Number of results deleted in one transaction, so that requests wait only briefly. */
const MAX_DELETED = 5000;

/** Returns the job that deletes expired results. */
export function keyedResultsJob(database: Database, clock: () => Date): Job {
  const deleteSome = (transaction: Transaction) => {
    const results = transaction.tables<IdempotencyTables>();
    const expired = results.selectFrom('keyed_results').select('request').where('until', '<=', clock().toISOString());
    const some = expired.orderBy('until').limit(MAX_DELETED);
    return results.deleteFrom('keyed_results').where('request', 'in', some).executeTakeFirstOrThrow();
  };
  const run = async () => {
    let deleted: bigint;
    do deleted = (await database.write(deleteSome)).numDeletedRows;
    while (deleted === BigInt(MAX_DELETED));
  };
  return { name: 'idempotency/tidy', everyMs: TIDY_MS, atMostMs: TIDY_MS, run };
}
