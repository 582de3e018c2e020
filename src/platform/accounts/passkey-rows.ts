import type { Reader, Transaction } from '../database/database.ts';
import type { AccountTables } from './tables.ts';

export type PasskeyRow = AccountTables['passkeys'];

/** The passkeys of somebody, oldest first. */
export function passkeysOf(reader: Reader, personId: string): Promise<PasskeyRow[]> {
  const passkeys = reader.tables<AccountTables>().selectFrom('passkeys').selectAll();
  return passkeys.where('person_id', '=', personId).orderBy('created_at').orderBy('passkey_id').execute();
}

/** Those of some people who have passkeys. */
export async function passkeyHolders(reader: Reader, personIds: readonly string[]): Promise<ReadonlySet<string>> {
  const passkeys = reader.tables<AccountTables>().selectFrom('passkeys').select('person_id').distinct();
  const rows = await passkeys.where(reader.sql.isAmong('person_id', personIds)).execute();
  return new Set(rows.map(({ person_id }) => person_id));
}

/** @returns whether it is a new one: an authenticator has the same passkey for one person only. */
export async function insertPasskey(transaction: Transaction, passkey: PasskeyRow): Promise<boolean> {
  const inserted = await transaction
    .tables<AccountTables>()
    .insertInto('passkeys')
    .values(passkey)
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning('passkey_id')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function notePasskeyUse(
  transaction: Transaction,
  passkeyId: string,
  use: Pick<PasskeyRow, 'counter' | 'last_used_at'>,
): Promise<void> {
  const passkeys = transaction.tables<AccountTables>().updateTable('passkeys').set(use);
  await passkeys.where('passkey_id', '=', passkeyId).execute();
}

/** @returns whether the person had it. */
export async function deletePasskey(transaction: Transaction, personId: string, passkeyId: string): Promise<boolean> {
  const passkeys = transaction.tables<AccountTables>().deleteFrom('passkeys').where('person_id', '=', personId);
  const deleted = await passkeys.where('passkey_id', '=', passkeyId).returning('passkey_id').executeTakeFirst();
  return deleted !== undefined;
}

export async function deletePasskeysOf(transaction: Transaction, personId: string): Promise<void> {
  await transaction.tables<AccountTables>().deleteFrom('passkeys').where('person_id', '=', personId).execute();
}
