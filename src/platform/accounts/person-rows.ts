import { randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { rowChanged, rowFinder } from '../rows.ts';
import { sealedPasskeys, sealedPeople } from './sealed-rows.ts';
import { ACCOUNT_TABLES, type AccountTables } from './tables.ts';

export type PersonRow = AccountTables['people'];

/** @throws DomainError `row_changed`. */
export async function personByEmail(reader: Reader, email: string): Promise<PersonRow | undefined> {
  const people = reader.tables<AccountTables>().selectFrom('people').selectAll();
  return sealedPeople.whole(reader, await people.where('email', '=', email).executeTakeFirst());
}

/** @throws DomainError `row_changed`. */
export async function personById(reader: Reader, personId: string): Promise<PersonRow | undefined> {
  const people = reader.tables<AccountTables>().selectFrom('people').selectAll();
  return sealedPeople.whole(reader, await people.where('person_id', '=', personId).executeTakeFirst());
}

const missing = 'nobody has this ID';

const readRow = rowFinder(ACCOUNT_TABLES, 'people', 'person_id', { missing });
const lockRow = rowFinder(ACCOUNT_TABLES, 'people', 'person_id', { missing, isLocked: true });

/** @throws DomainError `not_found`, `row_changed`. */
export async function readPerson(reader: Reader, personId: string): Promise<PersonRow> {
  return sealedPeople.whole(reader, await readRow(reader, personId));
}

/** Returns a person, locked until the transaction ends. @throws DomainError `not_found`, `row_changed`. */
export async function findPerson(transaction: Transaction, personId: string): Promise<PersonRow> {
  return sealedPeople.whole(transaction, await lockRow(transaction, personId));
}

const NEW = { totp_secret: null, totp_step: 0, recovery_codes: null, passkeys: 0, disabled_at: null, act: null };

/** @returns the id. @throws DomainError `conflict` if the address has an account. */
export async function insertPerson(
  transaction: Transaction,
  person: Pick<PersonRow, 'email' | 'name' | 'role' | 'password'>,
  now: Date,
): Promise<string> {
  const person_id = randomUUID();
  const made = await transaction
    .tables<AccountTables>()
    .insertInto('people')
    .values(sealedPeople.sealed(transaction, { ...person, person_id, ...NEW, created_at: now.toISOString() }))
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('person_id')
    .executeTakeFirst();
  if (made === undefined) throw emailTaken();
  return person_id;
}

export function emailTaken(): DomainError {
  return new DomainError('conflict', 'this e-mail address already has an account');
}

/** Changes a person. @throws DomainError `row_changed`. */
export const updatePerson = sealedPeople.change;

/** Reports whether there is an account of anyone but one person. */
export async function isAnybody(reader: Reader, besides = ''): Promise<boolean> {
  const people = reader.tables<AccountTables>().selectFrom('people').select('person_id');
  return (await people.where('person_id', '!=', besides).limit(1).execute()).length > 0;
}

/** Returns the addresses of the owners who may sign in. */
export async function ownersOf(reader: Reader): Promise<string[]> {
  const owners = reader.tables<AccountTables>().selectFrom('people').select('email').where('role', '=', 'owner');
  const rows = await owners.where('disabled_at', 'is', null).orderBy('email').execute();
  return rows.map(({ email }) => email);
}

export type PasskeyRow = AccountTables['passkeys'];

/**
 * Returns the passkeys of a person, oldest first.
 * @throws DomainError `row_changed` if one was changed, added or removed outside the platform.
 */
export async function passkeysOf(
  reader: Reader,
  { person_id, passkeys: count }: Pick<PersonRow, 'person_id' | 'passkeys'>,
): Promise<PasskeyRow[]> {
  const passkeys = reader.tables<AccountTables>().selectFrom('passkeys').selectAll();
  const rows = await passkeys.where('person_id', '=', person_id).orderBy('created_at').orderBy('passkey_id').execute();
  if (rows.length !== count) throw rowChanged('passkeys');
  return rows.map((row) => sealedPasskeys.whole(reader, row));
}

/** @returns true if the passkey is new: an authenticator uses a passkey for one person only. */
export async function insertPasskey(transaction: Transaction, passkey: Omit<PasskeyRow, 'seal'>): Promise<boolean> {
  const inserted = await transaction
    .tables<AccountTables>()
    .insertInto('passkeys')
    .values(sealedPasskeys.sealed(transaction, passkey))
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning('passkey_id')
    .executeTakeFirst();
  if (inserted !== undefined) await countPasskeys(transaction, passkey.person_id, 1);
  return inserted !== undefined;
}

async function countPasskeys(transaction: Transaction, person_id: string, more: number): Promise<void> {
  const { passkeys } = await findPerson(transaction, person_id);
  await updatePerson(transaction, { person_id }, { passkeys: passkeys + more });
}

/** Changes a passkey. @throws DomainError `row_changed`. */
export const changePasskey = sealedPasskeys.change;

/** @returns true if the person had the passkey. */
export async function deletePasskey(transaction: Transaction, personId: string, passkeyId: string): Promise<boolean> {
  const passkeys = transaction.tables<AccountTables>().deleteFrom('passkeys').where('person_id', '=', personId);
  const deleted = await passkeys.where('passkey_id', '=', passkeyId).returning('passkey_id').executeTakeFirst();
  if (deleted !== undefined) await countPasskeys(transaction, personId, -1);
  return deleted !== undefined;
}

/** Deletes the passkeys of a person, whose row the caller changes too. */
export async function deletePasskeysOf(transaction: Transaction, personId: string): Promise<void> {
  await transaction.tables<AccountTables>().deleteFrom('passkeys').where('person_id', '=', personId).execute();
}
