import { there } from '../errors.ts';
import { tokenDigest } from '../secrets.ts';
import { ownAct } from './administration.ts';
import type { AccountDeps } from './deps.ts';
import { goingOn } from './sessions.ts';
import type { AccountTables } from './tables.ts';

/** Session as shown to its owner. */
export interface OwnSession {
  session_id: string;
  created_at: string;
  seen_at: string;
  /** Network and browser that started the session; null if unknown. */
  network: string | null;
  browser: string | null;
  /** True for the session of the request. */
  isPresent: boolean;
}

/** Sessions of a person, which the person may end. */
export class OwnSessions {
  readonly #deps: AccountDeps;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
  }

  /** Lists the active sessions, last seen first. @param token of the current session. */
  async list(personId: string, token: string): Promise<OwnSession[]> {
    const { database, clock } = this.#deps;
    const sessions = database.tables<AccountTables>().selectFrom('sessions').where('person_id', '=', personId);
    const own = sessions.select(['session_id', 'sha256', 'created_at', 'seen_at', 'network', 'browser']);
    const rows = await own.where(goingOn(clock())).orderBy('seen_at', 'desc').orderBy('session_id').execute();
    const present = tokenDigest(token);
    return rows.map(({ sha256, ...session }) => ({ ...session, isPresent: sha256 === present }));
  }

  /** @throws DomainError `not_found`. */
  async find(personId: string, token: string, sessionId: string): Promise<OwnSession> {
    const found = (await this.list(personId, token)).find(({ session_id }) => session_id === sessionId);
    return there(found, 'no such session exists; it may have ended');
  }

  /** Ends a session, unless it has already ended. */
  async end(personId: string, sessionId: string): Promise<void> {
    await this.#end(personId, ({ session_id }) => session_id === sessionId);
  }

  /** Ends all sessions but one. @param token of the session that stays. */
  async endOthers(personId: string, token: string): Promise<void> {
    const present = tokenDigest(token);
    await this.#end(personId, ({ sha256 }) => sha256 !== present);
  }

  async #end(personId: string, isEnded: (session: { session_id: string; sha256: string }) => boolean): Promise<void> {
    const { database, administration } = this.#deps;
    await database.write(async (transaction) => {
      const sessions = transaction.tables<AccountTables>();
      const own = sessions.selectFrom('sessions').select(['session_id', 'sha256']).where('person_id', '=', personId);
      const ids = (await own.execute()).filter(isEnded).map(({ session_id }) => session_id);
      const { isAmong } = transaction.sql;
      const ended = sessions.deleteFrom('sessions').where(isAmong('session_id', ids)).returning('session_id');
      const count = (await ended.execute()).length;
      if (count === 0) return;
      await administration.record(transaction, ownAct(personId, 'sessions.ended', { count }));
    });
  }
}
