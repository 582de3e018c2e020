import type { Json } from '../../core/json/canonical.ts';
import type { Database, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { KeyedResults, keyedRequest } from '../idempotency/keyed-results.ts';
import type { IssuedKey } from './api-keys.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;

/** A request that makes a key. */
export interface IssueRequest {
  /** What is asked for. */
  scope: string;
  body: object;
  idempotencyKey: string | undefined;
  now: Date;
}

/**
 * Issues a key in one transaction, once for each idempotency key.
 * @throws DomainError `key_shown_before` when the same request made a key before: its text cannot be shown again;
 * `idempotency_conflict`; as `issue` does.
 */
export function issueOnce(
  database: Database,
  { scope, body, idempotencyKey, now }: IssueRequest,
  issue: (transaction: Transaction) => Promise<IssuedKey>,
): Promise<IssuedKey> {
  const keyed = idempotencyKey === undefined ? null : keyedRequest(scope, idempotencyKey, body as Json);
  return database.write(async (transaction) => {
    const results = new KeyedResults(now);
    await results.read(transaction, keyed === null ? [] : [keyed]);
    const earlier = keyed === null ? null : results.resultOf(keyed);
    if (earlier !== null)
      throw new DomainError(
        'key_shown_before',
        `this request made the API key ${earlier} before, whose text was shown then and cannot be shown again; if it was lost, revoke that key and make another`,
      );
    const issued = await issue(transaction);
    if (keyed !== null) results.keep(keyed, issued.key.key_id, KEPT_MS);
    await results.write(transaction);
    return issued;
  });
}
