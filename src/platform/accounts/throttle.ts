import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { InTheWay, type Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { rowChanger } from '../rows.ts';
import { ACCOUNT_TABLES, type AccountTables } from './tables.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15 * 60 * 1000;
/** Time without an attempt after which failures are forgotten. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

/** Subject whose attempts are counted. */
interface ThrottleSubject {
  name: string;
  /** Number of failures without a pause. */
  free: number;
}

/** Returns the subject of attempts on an account, whether or not the account exists. */
export function accountSubject(email: string): ThrottleSubject {
  return { name: `account ${email}`, free: 5 };
}

/** Returns the subject of attempts from a network, which may be that of a whole company. */
export function networkSubject(network: string): ThrottleSubject {
  return { name: `network ${network}`, free: 30 };
}

/** Returns the subjects of letters requested without an account, by address and by network. */
export function letterSubjects(email: string, network: string): ThrottleSubject[] {
  return [
    { name: `letters to ${email}`, free: 3 },
    { name: `letters by ${network}`, free: 30 },
  ];
}

/**
 * Slows down guessing: after some failures, each further one doubles the pause. An attempt counts as a failure from its
 * start until it succeeds, so that parallel attempts gain nothing over sequential ones.
 */
export class Throttle {
  readonly #clock: () => Date;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /**
   * Counts an attempt.
   * @returns whether the number of failures suggests guessing.
   * @throws DomainError `too_many_attempts` during a pause.
   */
  async attempt(transaction: Transaction, subjects: readonly ThrottleSubject[]): Promise<{ isBurst: boolean }> {
    const now = this.#clock();
    let isBurst = false;
    for (const { digest, free } of inOrder(subjects)) {
      const row = await lockSubject(transaction, digest, now);
      refusePaused(row, free, now);
      const failures = isForgotten(row, now) ? 1 : row.failures + 1;
      await changeAttempts(transaction, row, { failures, last_at: now.toISOString() });
      if (failures % free === 0) isBurst = true;
    }
    return { isBurst };
  }

  /** Uncounts a successful attempt, and resets the failures of the account. */
  async succeed(transaction: Transaction, account: ThrottleSubject, others: readonly ThrottleSubject[]): Promise<void> {
    for (const { name, digest } of inOrder([account, ...others]))
      if (name === account.name) await changeAttempts(transaction, { subject: digest }, { failures: 0 });
      else await takeBack(transaction, digest);
  }

  /** Uncounts an attempt that did not fail, without a reset, because a further step has to succeed. */
  async suspend(transaction: Transaction, subjects: readonly ThrottleSubject[]): Promise<void> {
    for (const { digest } of inOrder(subjects)) await takeBack(transaction, digest);
  }
}

async function takeBack(transaction: Transaction, subject: string): Promise<void> {
  const attempts = transaction.tables<AccountTables>().updateTable('failed_attempts');
  const fewer = attempts.set({ failures: sql`failures - 1` }).where('failures', '>', 0);
  await fewer.where('subject', '=', subject).execute();
}

type AttemptRow = AccountTables['failed_attempts'];
const changeAttempts = rowChanger(ACCOUNT_TABLES, 'failed_attempts', 'subject');

/** Reads the count of a subject, and locks it until the transaction ends. */
async function lockSubject(transaction: Transaction, subject: string, now: Date): Promise<AttemptRow> {
  const tables = transaction.tables<AccountTables>();
  const attempts = tables.insertInto('failed_attempts').values({ subject, failures: 0, last_at: now.toISOString() });
  await attempts.onConflict((conflict) => conflict.column('subject').doNothing()).execute();
  const rows = tables.selectFrom('failed_attempts').selectAll().where('subject', '=', subject);
  const row = await rows.modifyEnd(transaction.sql.locked).executeTakeFirst();
  if (row === undefined) throw new InTheWay('the row was tidied away meanwhile');
  return row;
}

/** @throws DomainError `too_many_attempts`. */
function refusePaused({ failures, last_at }: AttemptRow, free: number, now: Date): void {
  if (failures < free) return;
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - free));
  const seconds = Math.ceil((Date.parse(last_at) + pause - now.getTime()) / 1000);
  if (seconds > 0)
    throw new DomainError('too_many_attempts', `too many attempts; try again in ${seconds} s`, {
      retry_after: seconds,
    });
}

function isForgotten({ last_at }: AttemptRow, now: Date): boolean {
  return Date.parse(last_at) < now.getTime() - FORGOTTEN_MS;
}

/** Deletes counts that are forgotten. */
export async function forgetAttempts(transaction: Transaction, now: Date): Promise<void> {
  const forgotten = new Date(now.getTime() - FORGOTTEN_MS).toISOString();
  await transaction.tables<AccountTables>().deleteFrom('failed_attempts').where('last_at', '<', forgotten).execute();
}

/**
 * Returns the subjects in the order in which all transactions lock them. Only digests are stored, because the typed
 * text may be a password in the wrong field.
 */
function inOrder(subjects: readonly ThrottleSubject[]) {
  const digested = subjects.map((subject) => ({ ...subject, digest: hash('sha256', subject.name, 'hex') }));
  return digested.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
}
