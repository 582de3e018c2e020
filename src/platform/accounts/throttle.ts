import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { PeopleTables } from './people-tables.ts';

/** Failures without a consequence. */
const FREE = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15 * 60 * 1000;
/** After so long without a failure all is forgotten. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

/**
 * Slows down who guesses: after some failures each one doubles the pause. It counts for an account whether there is one
 * or not, and for an address, so that it tells nobody who has an account.
 */
export class Throttle {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  /** @throws DomainError `too_many_attempts` while a pause lasts. */
  async check(subjects: readonly string[]): Promise<void> {
    const rows = await this.#database
      .tables<PeopleTables>()
      .selectFrom('failed_attempts')
      .selectAll()
      .where(this.#database.words.isAmong('subject', subjects.map(digestOf)))
      .execute();
    const now = this.#clock().getTime();
    const left = Math.max(0, ...rows.map((row) => Date.parse(row.last_at) + pauseAfter(row.failures) - now));
    if (left > 0)
      throw new DomainError(
        'too_many_attempts',
        `there were too many attempts; try again in ${Math.ceil(left / 1000)} s`,
        { retry_after: Math.ceil(left / 1000) },
      );
  }

  async fail(subjects: readonly string[]): Promise<void> {
    const now = this.#clock();
    const forgotten = new Date(now.getTime() - FORGOTTEN_MS).toISOString();
    await this.#database.write(async (transaction) => {
      for (const subject of subjects.map(digestOf).toSorted())
        await transaction
          .tables<PeopleTables>()
          .insertInto('failed_attempts')
          .values({ subject, failures: 1, last_at: now.toISOString() })
          .onConflict((conflict) =>
            conflict.column('subject').doUpdateSet({
              failures: sql<number>`CASE WHEN failed_attempts.last_at < ${forgotten} THEN 1 ELSE failed_attempts.failures + 1 END`,
              last_at: now.toISOString(),
            }),
          )
          .execute();
    });
  }

  async succeed(subjects: readonly string[]): Promise<void> {
    await this.#database.write((transaction) =>
      transaction
        .tables<PeopleTables>()
        .deleteFrom('failed_attempts')
        .where(transaction.words.isAmong('subject', subjects.map(digestOf)))
        .execute(),
    );
  }
}

function pauseAfter(failures: number): number {
  return failures < FREE ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - FREE));
}

/** What somebody typed may be a password in the wrong field. */
function digestOf(subject: string): string {
  return hash('sha256', subject, 'hex');
}
