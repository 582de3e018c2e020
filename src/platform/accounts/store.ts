import { timingSafeEqual } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { createKey, keyDigest, keyIdOf } from './key.ts';

export interface AccountTables {
  api_keys: {
    key_id: string;
    sha256: string;
    name: string;
    created_at: string;
    revoked_at: string | null;
  };
}

/** The API keys of one database. */
export class KeyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Creates a key and returns its text, which cannot be had again. */
  async create(name: string, now: Date): Promise<string> {
    const { id, sha256, text } = createKey();
    const row = { key_id: id, sha256, name, created_at: now.toISOString(), revoked_at: null };
    await this.#database.write((transaction) =>
      transaction.tables<AccountTables>().insertInto('api_keys').values(row).execute(),
    );
    return text;
  }

  /** The id of the live key that `presented` is, or null. */
  async authenticate(presented: string): Promise<string | null> {
    const id = keyIdOf(presented);
    if (id === null) return null;
    const row = await this.#database
      .tables<AccountTables>()
      .selectFrom('api_keys')
      .select('sha256')
      .where('key_id', '=', id)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    const digest = Buffer.from(keyDigest(presented));
    const expected = Buffer.from((row?.sha256 ?? '').padEnd(digest.length).slice(0, digest.length));
    return timingSafeEqual(digest, expected) ? id : null;
  }
}
