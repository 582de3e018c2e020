import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { HttpProblem } from '../http/problem.ts';

/** What requests with an idempotency key led to, so that repeating one leads to the same and to nothing new. */
export class Idempotency {
  readonly #find: StatementSync;
  readonly #remember: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare(
      'SELECT body_sha256, result FROM idempotency WHERE scope = ? AND key = ? AND created_at >= ?',
    );
    this.#remember = database.prepare(
      `INSERT INTO idempotency (scope, key, body_sha256, result, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET body_sha256 = excluded.body_sha256, result = excluded.result,
         created_at = excluded.created_at`,
    );
  }

  /**
   * The result of the same request made before, or null when the key is new in its scope.
   * @param since keys older than this time count as new.
   * @throws Problem 422 `idempotency_conflict` when the key belongs to a request with another body.
   */
  find(scope: string, key: string, bodySha256: string, since = ''): string | null {
    const row = this.#find.get(scope, key, since);
    if (row === undefined) return null;
    if (row['body_sha256'] !== bodySha256)
      throw new HttpProblem(
        422,
        'idempotency_conflict',
        'this idempotency key was used for a request with another body',
      );
    return String(row['result']);
  }

  remember(scope: string, key: string, bodySha256: string, result: string, now: string): void {
    this.#remember.run(scope, key, bodySha256, result, now);
  }
}
