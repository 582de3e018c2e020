import { randomUUID } from 'node:crypto';
import type { ExpressionBuilder } from 'kysely';
import { CLOCKS_APART_MS } from '../clock/clock.ts';
import type { Database, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { newToken, tokenDigest } from '../secrets.ts';
import type { Role } from './enums.ts';
import { personById } from './person-rows.ts';
import { sealedSessions } from './sealed-rows.ts';
import { factorsOf, type SecondFactor } from './second-factors.ts';
import type { AccountTables } from './tables.ts';

/** Maximum idle time of a session, and its maximum total time. */
const IDLE_MS = 60 * 60 * 1000;
const WHOLE_MS = 12 * 60 * 60 * 1000;
/** Time between updates of the last use of a session. */
const SEEN_EVERY_MS = 60 * 1000;
/** Time for which a fresh authentication counts. */
const PROVED_MS = 5 * 60 * 1000;

export interface Session {
  personId: string;
  email: string;
  name: string;
  role: Role;
  /** CSRF token in every form on the session's pages. */
  csrf: string;
  /** True if the person authenticated in the last minutes. */
  isProved: boolean;
  secondFactors: readonly SecondFactor[];
}

/** Start of a session. */
export interface SessionBeginning {
  /** True if both factors were just given. */
  isProved: boolean;
  /** Network of the request, and the browser in words. */
  network?: string | undefined;
  browser?: string | undefined;
}

/** Sessions of signed-in people. A cookie holds the token, and the database its digest. */
export class Sessions {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Starts a session with a new token, whatever token the browser had before.
   * @returns the token.
   */
  async begin(transaction: Transaction, personId: string, beginning: SessionBeginning): Promise<string> {
    const { isProved, network = null, browser = null } = beginning;
    const now = this.#clock().toISOString();
    const { text, sha256 } = newToken();
    const from = { network, browser, created_at: now, seen_at: now, proved_at: isProved ? now : null };
    const session = { sha256, session_id: randomUUID(), person_id: personId, csrf: newToken().text, ...from };
    await transaction
      .tables<AccountTables>()
      .insertInto('sessions')
      .values(sealedSessions.sealed(transaction, session))
      .execute();
    return text;
  }

  /** Returns the session of a token; null if there is none, it has ended, or the person may no longer sign in. @throws DomainError `row_changed`. */
  async find(token: string): Promise<Session | null> {
    const now = this.#clock();
    const sha256 = tokenDigest(token);
    const database = this.#database;
    const sessions = database.tables<AccountTables>().selectFrom('sessions').selectAll().where('sha256', '=', sha256);
    const row = sealedSessions.whole(database, await sessions.where(goingOn(now)).executeTakeFirst());
    const person = row && (await personById(database, row.person_id));
    if (row === undefined || person === undefined || person.disabled_at !== null) return null;
    if (row.seen_at < before(now, SEEN_EVERY_MS)) await this.#noteSeen(sha256, now);
    const { person_id: personId, email, name, role } = person;
    const { csrf, proved_at } = row;
    const isProved =
      proved_at !== null && proved_at > before(now, PROVED_MS) && proved_at < before(now, -CLOCKS_APART_MS);
    return { personId, email, name, role, csrf, isProved, secondFactors: factorsOf(person) };
  }

  /** Returns the session of a token. @throws DomainError `not_signed_in` if `find` returns none. */
  async require(token: string): Promise<Session> {
    const session = await this.find(token);
    if (session === null) throw new DomainError('not_signed_in', 'the session has ended; sign in again');
    return session;
  }

  /** Records that the person has authenticated again. */
  async prove(transaction: Transaction, token: string): Promise<void> {
    await changeSession(transaction, { sha256: tokenDigest(token) }, { proved_at: this.#clock().toISOString() });
  }

  async end(token: string): Promise<void> {
    await this.#database.write((transaction) =>
      transaction.tables<AccountTables>().deleteFrom('sessions').where('sha256', '=', tokenDigest(token)).execute(),
    );
  }

  /** Ends all sessions of a person. */
  async endAll(transaction: Transaction, personId: string): Promise<void> {
    await transaction.tables<AccountTables>().deleteFrom('sessions').where('person_id', '=', personId).execute();
  }

  /** Ends all sessions of a person but one. @param token of the session that stays. */
  async endOthers(transaction: Transaction, personId: string, token: string): Promise<void> {
    const sessions = transaction.tables<AccountTables>().deleteFrom('sessions').where('person_id', '=', personId);
    await sessions.where('sha256', '!=', tokenDigest(token)).execute();
  }

  async #noteSeen(sha256: string, now: Date): Promise<void> {
    await this.#database.write((transaction) => changeSession(transaction, { sha256 }, { seen_at: now.toISOString() }));
  }
}

const changeSession = sealedSessions.change;

/** Returns the condition that a session has not ended. One from a clock that was ahead would never end. */
export function goingOn(now: Date) {
  const ahead = before(now, -CLOCKS_APART_MS);
  return ({ and, eb }: ExpressionBuilder<Pick<AccountTables, 'sessions'>, 'sessions'>) =>
    and([
      eb('sessions.seen_at', '>', before(now, IDLE_MS)),
      eb('sessions.seen_at', '<', ahead),
      eb('sessions.created_at', '>', before(now, WHOLE_MS)),
      eb('sessions.created_at', '<', ahead),
    ]);
}

/** Deletes sessions that have ended. */
export async function forgetSessions(transaction: Transaction, now: Date): Promise<void> {
  const sessions = transaction.tables<AccountTables>().deleteFrom('sessions');
  const [idle, whole] = [before(now, IDLE_MS), before(now, WHOLE_MS)];
  const ended = sessions.where(({ or, eb }) =>
    or([eb('seen_at', '<', idle), eb('created_at', '<', whole), eb('seen_at', '>', before(now, -CLOCKS_APART_MS))]),
  );
  await ended.execute();
}

function before(now: Date, milliseconds: number): string {
  return new Date(now.getTime() - milliseconds).toISOString();
}

/** Browsers by pattern; the first match applies, because user agents also name the browsers that they imitate. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/** Returns a browser in words: `Firefox on Linux`. @param userAgent untrusted header. */
export function browserWords(userAgent: string | undefined): string {
  const nameIn = (names: typeof BROWSERS) => names.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const [browser = 'another browser', system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
