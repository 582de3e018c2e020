import type { Json } from '../../core/json/canonical.ts';
import type { Database, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { keyedRequest, makeOnce } from '../idempotency/keyed-results.ts';
import type { IssuedKey } from './api-keys.ts';

/** A request that makes a key. */
export interface IssueRequest {
  /** The operation that is asked for. */
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
    const outcome = await makeOnce(
      transaction,
      { keyed, now },
      () => issue(transaction),
      ({ key }) => key.key_id,
    );
    if ('made' in outcome) return outcome.made;
    throw new DomainError(
      'key_shown_before',
      `this request made the API key ${outcome.earlier} before, whose text was shown then and cannot be shown again; if it was lost, revoke that key and make another`,
    );
  });
}
