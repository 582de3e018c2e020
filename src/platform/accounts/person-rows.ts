import { randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { rowChanger, rowFinder } from '../rows.ts';
import { ACCOUNT_TABLES, type AccountTables } from './tables.ts';

export type PersonRow = AccountTables['people'];

export function personByEmail(reader: Reader, email: string): Promise<PersonRow | undefined> {
  const people = reader.tables<AccountTables>().selectFrom('people').selectAll();
  return people.where('email', '=', email).executeTakeFirst();
}

export function personById(reader: Reader, personId: string): Promise<PersonRow | undefined> {
  const people = reader.tables<AccountTables>().selectFrom('people').selectAll();
  return people.where('person_id', '=', personId).executeTakeFirst();
}

const missing = 'nobody has this ID';

/** @throws DomainError `not_found`. */
export const readPerson = rowFinder(ACCOUNT_TABLES, 'people', 'person_id', { missing });

/** Returns a person, locked until the transaction ends. @throws DomainError `not_found`. */
export const findPerson = rowFinder(ACCOUNT_TABLES, 'people', 'person_id', { missing, isLocked: true });

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
    .values({
      ...person,
      person_id,
      totp_secret: null,
      totp_step: 0,
      recovery_codes: null,
      created_at: now.toISOString(),
      disabled_at: null,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('person_id')
    .executeTakeFirst();
  if (made === undefined) throw emailTaken();
  return person_id;
}

export function emailTaken(): DomainError {
  return new DomainError('conflict', 'this e-mail address already has an account');
}

export const updatePerson = rowChanger(ACCOUNT_TABLES, 'people', 'person_id');

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

/** Returns the passkeys of a person, oldest first. */
export function passkeysOf(reader: Reader, personId: string): Promise<PasskeyRow[]> {
  const passkeys = reader.tables<AccountTables>().selectFrom('passkeys').selectAll();
  return passkeys.where('person_id', '=', personId).orderBy('created_at').orderBy('passkey_id').execute();
}

/** Returns those of the people who have passkeys. */
export async function passkeyHolders(reader: Reader, personIds: readonly string[]): Promise<ReadonlySet<string>> {
  const passkeys = reader.tables<AccountTables>().selectFrom('passkeys').select('person_id').distinct();
  const rows = await passkeys.where(reader.sql.isAmong('person_id', personIds)).execute();
  return new Set(rows.map(({ person_id }) => person_id));
}

/** @returns true if the passkey is new: an authenticator uses a passkey for one person only. */
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

export const changePasskey = rowChanger(ACCOUNT_TABLES, 'passkeys', 'passkey_id');

/** @returns true if the person had the passkey. */
export async function deletePasskey(transaction: Transaction, personId: string, passkeyId: string): Promise<boolean> {
  const passkeys = transaction.tables<AccountTables>().deleteFrom('passkeys').where('person_id', '=', personId);
  const deleted = await passkeys.where('passkey_id', '=', passkeyId).returning('passkey_id').executeTakeFirst();
  return deleted !== undefined;
}

export async function deletePasskeysOf(transaction: Transaction, personId: string): Promise<void> {
  await transaction.tables<AccountTables>().deleteFrom('passkeys').where('person_id', '=', personId).execute();
}
