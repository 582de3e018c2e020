import { timingSafeEqual } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { createKey, keyDigest, keyIdOf } from './key.ts';

/** The API keys of one database. */
export class KeyStore {
  readonly #insert: StatementSync;
  readonly #find: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare('INSERT INTO api_keys (key_id, sha256, name, created_at) VALUES (?, ?, ?, ?)');
    this.#find = database.prepare('SELECT sha256 FROM api_keys WHERE key_id = ? AND revoked_at IS NULL');
  }

  /** Creates a key and returns its text, which cannot be had again. */
  create(name: string, now: Date): string {
    const key = createKey();
    this.#insert.run(key.id, key.sha256, name, now.toISOString());
    return key.text;
  }

  /** The id of the live key that `presented` is, or null. */
  authenticate(presented: string): string | null {
    const id = keyIdOf(presented);
    if (id === null) return null;
    const row = this.#find.get(id);
    const stored = typeof row?.['sha256'] === 'string' ? row['sha256'] : '';
    const digest = Buffer.from(keyDigest(presented));
    const expected = Buffer.from(stored.padEnd(digest.length).slice(0, digest.length));
    return timingSafeEqual(digest, expected) ? id : null;
  }
}
