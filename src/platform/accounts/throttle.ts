import { hash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { CLOCKS_APART_MS } from '../clock/clock.ts';
import { InTheWay, type Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { rowChanger } from '../rows.ts';
import { ACCOUNT_TABLES, type AccountTables } from './tables.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** Maximum number of counts that are kept; the smallest are deleted first. */
const MOST_COUNTS = 100_000;

/** Subject whose failures are counted. */
export interface ThrottleSubject {
  name: string;
  /** Number of failures without a pause. */
  free: number;
  /** Time after which one failure is forgiven, and after `free` failures, the time between attempts. */
  forgivenMs: number;
}

/**
 * Returns the subjects of guesses at a password.
 * @param network as returned by `networkOf`.
 * @param known device or session that has signed in to the account before. It has a count of its own, so that nobody
 * else's guesses pause it; null for a stranger.
 */
export function passwordSubjects(email: string, network: string, known: string | null): ThrottleSubject[] {
  if (known !== null) return [{ name: `password by ${known}`, free: 5, forgivenMs: MINUTE_MS }];
  const site = siteOf(network);
  return [
    { name: `account ${email} from ${site}`, free: 5, forgivenMs: 5 * MINUTE_MS },
    // More than several networks guess in the long run, so that no single one pauses strangers elsewhere.
    { name: `account ${email}`, free: 100, forgivenMs: MINUTE_MS },
    { name: `network ${network}`, free: 30, forgivenMs: MINUTE_MS },
    ...(site === network ? [] : [{ name: `site ${site}`, free: 300, forgivenMs: 6 * SECOND_MS }]),
  ];
}

/** Returns the subjects of guesses at a second factor, by someone who knows the password. @param known device. */
export function factorSubjects(email: string, known: string | null): ThrottleSubject[] {
  const whose = known === null ? `of ${email}` : `by ${known}`;
  return [{ name: `second factor ${whose}`, free: 5, forgivenMs: 15 * MINUTE_MS }];
}

/** Returns the subjects of letters requested without an account, by address and by network. */
export function letterSubjects(email: string, network: string): ThrottleSubject[] {
  return [
    { name: `letters to ${email}`, free: 3, forgivenMs: 15 * MINUTE_MS },
    { name: `letters by ${network}`, free: 30, forgivenMs: MINUTE_MS },
  ];
}

/** Returns the /48 of an IPv6 network, which one subscriber may have whole; an IPv4 address stays as it is. */
function siteOf(network: string): string {
  return isIPv4(network) ? network : network.split(':').slice(0, 3).join(':');
}

/**
 * Slows down guessing. An attempt counts as a failure from its start until it succeeds, so that parallel attempts gain
 * nothing over sequential ones. Failures are forgiven one by one as time passes.
 */
export class Throttle {
  readonly #clock: () => Date;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /**
   * Counts an attempt.
   * @returns whether the number of failures suggests guessing, and whether there was no failure before.
   * @throws DomainError `too_many_attempts` during a pause.
   */
  async attempt(
    transaction: Transaction,
    subjects: readonly ThrottleSubject[],
  ): Promise<{ isBurst: boolean; isClean: boolean }> {
    const now = this.#clock().getTime();
    let [isBurst, isClean] = [false, true];
    for (const { digest, free, forgivenMs } of inOrder(subjects)) {
      const row = await lockSubject(transaction, digest, now);
      const most = Math.min(row.failures, free) * forgivenMs;
      const owed = owedOf(Date.parse(row.forgiven_at) - now, most);
      refusePaused(owed, free * forgivenMs, forgivenMs);
      const failures = owed === 0 ? 1 : row.failures + 1;
      await changeAttempts(transaction, row, { failures, forgiven_at: toText(now + owed + forgivenMs) });
      if (failures % free === 0) isBurst = true;
      if (owed > 0) isClean = false;
    }
    return { isBurst, isClean };
  }

  /** Uncounts an attempt that did not fail. */
  async takeBack(transaction: Transaction, subjects: readonly ThrottleSubject[]): Promise<void> {
    const now = this.#clock().getTime();
    for (const { digest, forgivenMs } of inOrder(subjects)) {
      const row = await lockSubject(transaction, digest, now);
      const failures = Math.max(0, row.failures - 1);
      await changeAttempts(transaction, row, {
        failures,
        forgiven_at: toText(Date.parse(row.forgiven_at) - forgivenMs),
      });
    }
  }
}

const changeAttempts = rowChanger(ACCOUNT_TABLES, 'failed_attempts', 'subject');

/** Reads the count of a subject, and locks it until the transaction ends. */
async function lockSubject(transaction: Transaction, subject: string, now: number) {
  const tables = transaction.tables<AccountTables>();
  const attempts = tables.insertInto('failed_attempts').values({ subject, failures: 0, forgiven_at: toText(now) });
  await attempts.onConflict((conflict) => conflict.column('subject').doNothing()).execute();
  const rows = tables.selectFrom('failed_attempts').selectAll().where('subject', '=', subject);
  const row = await rows.modifyEnd(transaction.sql.locked).executeTakeFirst();
  if (row === undefined) throw new InTheWay('the row was tidied away meanwhile');
  return row;
}

/**
 * Returns the time until all failures are forgiven; none if it is longer than they account for, because the clock was
 * ahead when they were counted.
 */
function owedOf(left: number, most: number): number {
  return left > most + CLOCKS_APART_MS ? 0 : Math.min(Math.max(0, left), most);
}

/**
 * @param owed time until all failures are forgiven. @param most time above which there is a pause. @throws DomainError
 * `too_many_attempts`.
 */
function refusePaused(owed: number, most: number, forgivenMs: number): void {
  const seconds = Math.ceil((owed + forgivenMs - most) / SECOND_MS);
  if (seconds > 0)
    throw new DomainError('too_many_attempts', `too many attempts; try again in ${seconds} s`, {
      retry_after: seconds,
    });
}

/** Deletes counts that are forgiven, and the smallest of too many. */
export async function forgetAttempts(transaction: Transaction, now: Date, most = MOST_COUNTS): Promise<void> {
  const attempts = transaction.tables<AccountTables>();
  await attempts.deleteFrom('failed_attempts').where('forgiven_at', '<', now.toISOString()).execute();
  const largest = attempts.selectFrom('failed_attempts').select('forgiven_at').orderBy('forgiven_at', 'desc');
  const last = await largest.limit(1).offset(most).executeTakeFirst();
  if (last !== undefined)
    await attempts.deleteFrom('failed_attempts').where('forgiven_at', '<=', last.forgiven_at).execute();
}

function toText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/**
 * Returns the subjects in the order in which all transactions lock them. Only digests are stored, because the typed
 * text may be a password in the wrong field.
 */
function inOrder(subjects: readonly ThrottleSubject[]) {
  const digested = subjects.map((subject) => ({ ...subject, digest: hash('sha256', subject.name, 'hex') }));
  return digested.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
}
