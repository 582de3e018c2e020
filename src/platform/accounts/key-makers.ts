import type { z } from 'zod';
import type { Reader, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { type ApiKey, type Issuing, revokeKey } from './api-keys.ts';
import { scopesOfRole } from './roles.ts';
import type { AccountTables } from './tables.ts';
import type { apiKeySchema, keyMakerSchema } from './wire.ts';

/** Person who made a key. `demoted`: the role of the person lacks a scope of the key. */
export type KeyMaker = z.infer<typeof keyMakerSchema>;

/** Key with its maker. */
export type MadeKey = z.infer<typeof apiKeySchema> & { maker: KeyMaker | null };

/** Reads the makers of keys. */
export async function withMakers(reader: Reader, keys: readonly ApiKey[]): Promise<MadeKey[]> {
  const ids = [...new Set(keys.flatMap(({ maker_id }) => maker_id ?? []))];
  const people = reader.tables<AccountTables>().selectFrom('people').selectAll();
  const rows = await people.where(reader.sql.isAmong('person_id', ids)).execute();
  const makers = new Map(rows.map((row) => [row.person_id, row]));
  const makerOf = ({ maker_id, scopes }: ApiKey): KeyMaker | null => {
    const maker = makers.get(maker_id ?? '');
    if (maker === undefined) return null;
    const own = scopesOfRole(maker.role);
    const may = scopes.every((scope) => own.includes(scope));
    return {
      ...pick(maker, ['person_id', 'name']),
      state: maker.disabled_at !== null ? 'disabled' : may ? 'enabled' : 'demoted',
    };
  };
  return keys.map((key) => ({ ...key, maker: makerOf(key) }));
}

/** Revokes the keys of a person that have not ended, each with its entry in the record. @returns their number. */
export async function revokeKeysOf(transaction: Transaction, personId: string, issuing: Issuing): Promise<number> {
  const keys = transaction.tables<AccountTables>().selectFrom('api_keys').select('key_id');
  const made = keys.where('maker_id', '=', personId).where('revoked_at', 'is', null);
  const present = made.where(({ or, eb }) =>
    or([eb('expires_at', 'is', null), eb('expires_at', '>', issuing.now.toISOString())]),
  );
  const rows = await present.orderBy('key_id').execute();
  for (const { key_id } of rows) await revokeKey(transaction, key_id, issuing);
  return rows.length;
}
