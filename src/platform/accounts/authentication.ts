import { timingSafeEqual } from 'node:crypto';
import type { Database, PreparedQuery } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Principal } from '../http/principal.ts';
import type { Administration } from './administration.ts';
import { limitsOf, scopesOf } from './api-keys.ts';
import { keyDigest, keyIdOf } from './key.ts';
import { sealedKeys } from './sealed-rows.ts';
import type { AccountTables } from './tables.ts';

/** Minimum time between two updates of a key's last use. */
const USED_MS = 60_000;

/** Digest to compare with if no key has the id, so that the answer takes equally long. */
const NO_DIGEST = '-'.repeat(64);

type PresentedKey = AccountTables['api_keys'];

/** Authenticates API keys, and records their last use. */
export class KeyAuthentication {
  readonly #database: Database;
  readonly #clock: () => Date;
  readonly #findById: PreparedQuery<PresentedKey>;
  /** Keys that were refused because of their rows. */
  readonly #refusals = new Set<string>();
  readonly #administration: Administration;
  /** Running writes, by key id. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(database: Database, clock: () => Date, administration: Administration) {
    this.#database = database;
    this.#administration = administration;
    this.#clock = clock;
    const keys = database.tables<AccountTables>().selectFrom('api_keys').selectAll();
    this.#findById = database.prepare(keys.where('key_id', '=', ''));
  }

  /** @throws DomainError `unauthenticated`; `key_expired` or `key_revoked` if the whole key is right. */
  async authenticate(presented: string): Promise<Principal> {
    const keyId = keyIdOf(presented);
    const row = keyId === null ? undefined : await this.#findById(keyId);
    if (!isTextOf(row, presented))
      throw new DomainError('unauthenticated', 'the API key is not valid for this service');
    if (!sealedKeys.isWhole(this.#database, row)) throw this.#refused(row);
    const now = this.#clock();
    if (row.revoked_at !== null)
      throw new DomainError('key_revoked', `the API key "${row.name}" was revoked at ${row.revoked_at}`);
    if (row.expires_at !== null && row.expires_at <= now.toISOString())
      throw new DomainError('key_expired', `the API key "${row.name}" expired at ${row.expires_at}`);
    this.#noteUse(row, now);
    const { key_id: id, name, lineage, bound_to: boundTo } = row;
    return { kind: 'key', id, name, lineage, scopes: scopesOf(row), boundTo, limits: limitsOf(row) };
  }

  /** Records, once in this process, that a key is refused because its row was changed outside the platform. */
  #refused({ key_id }: PresentedKey): DomainError {
    if (!this.#refusals.has(key_id)) {
      this.#refusals.add(key_id);
      const act = { actor: { name: 'platform' }, action: 'row.refused', of: ['api_key', key_id] } as const;
      const writing = this.#database
        .write((transaction) => this.#administration.record(transaction, act))
        .catch(() => this.#refusals.delete(key_id))
        .then(() => {})
        .finally(() => this.#writing.delete(key_id));
      this.#writing.set(key_id, writing);
    }
    return new DomainError(
      'unauthenticated',
      'the API key was changed outside the platform and is refused; run `evidence-platform fsck`',
    );
  }

  /** Resolves when no last use is being recorded. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  /** Records the last use in the background; a failure does not fail the request. */
  #noteUse({ key_id, last_used_at }: PresentedKey, now: Date): void {
    if (last_used_at !== null && now.getTime() - Date.parse(last_used_at) < USED_MS) return;
    if (this.#writing.has(key_id)) return;
    const outdated = new Date(now.getTime() - USED_MS).toISOString();
    const writing = this.#database
      .write(async (transaction) => {
        await transaction
          .tables<AccountTables>()
          .updateTable('api_keys')
          .set({ last_used_at: now.toISOString() })
          .where('key_id', '=', key_id)
          .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<=', outdated)]))
          .execute();
      })
      .catch(() => {})
      .finally(() => this.#writing.delete(key_id));
    this.#writing.set(key_id, writing);
  }
}

function isTextOf(row: PresentedKey | undefined, presented: string): row is PresentedKey {
  const expected = Buffer.from(row?.sha256 ?? NO_DIGEST);
  return timingSafeEqual(Buffer.from(keyDigest(presented)), expected) && row !== undefined;
}
