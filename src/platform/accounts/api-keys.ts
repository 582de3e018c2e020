import type { Reader, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { SCOPES, type Scope } from '../scopes.ts';
import { createKey } from './key.ts';
import type { AccountTables, ApiKeyTable } from './schema.ts';

/** An API key as it is shown. */
export type ApiKey = Omit<ApiKeyTable, 'sha256' | 'scopes'> & { scopes: Scope[] };

/** A new API key. Its text is nowhere else, and cannot be had again. */
export interface IssuedKey {
  key: ApiKey;
  text: string;
}

export interface KeyWishes {
  name: string;
  scopes: readonly Scope[];
  /** RFC 3339 UTC with milliseconds; null for a key that does not expire. */
  expiresAt: string | null;
}

export interface Rotation {
  /** For so long both keys are good. */
  overlapSeconds: number;
  /** That of the old key where it is not given. */
  expiresAt?: string | null | undefined;
}

/** Who makes a key: it gives no scope that it has not got itself. */
export interface Issuer {
  scopes: readonly Scope[];
  now: Date;
}

/** Somebody with the database in their hands. */
export function operator(now: Date): Issuer {
  return { scopes: SCOPES, now };
}

/** @throws DomainError `forbidden`; `invalid_request` for an end that is past. */
export async function issueKey(transaction: Transaction, wishes: KeyWishes, issuer: Issuer): Promise<IssuedKey> {
  return insertKey(transaction, wishes, issuer, null);
}

/**
 * Issues a key with the name and scopes of another, which ends after the overlap.
 * @throws DomainError `not_found`, `forbidden`, `invalid_request`; `key_ended` for a key that is no good any more, or
 * was rotated before.
 */
export async function rotateKey(
  transaction: Transaction,
  keyId: string,
  { overlapSeconds, expiresAt }: Rotation,
  issuer: Issuer,
): Promise<IssuedKey & { old: ApiKey }> {
  const old = await findKey(transaction, keyId);
  await refuseEnded(transaction, old, issuer.now);
  const wishes = { ...old, expiresAt: expiresAt === undefined ? old.expires_at : expiresAt };
  const issued = await insertKey(transaction, wishes, issuer, keyId);
  const overlap = new Date(issuer.now.getTime() + overlapSeconds * 1000).toISOString();
  if (old.expires_at === null || overlap < old.expires_at) await setEnd(transaction, keyId, overlap);
  return { ...issued, old };
}

/** Ends a key at once; one that was revoked before stays as it is. @throws DomainError `not_found`. */
export async function revokeKey(transaction: Transaction, keyId: string, now: Date): Promise<ApiKey> {
  await transaction
    .tables<AccountTables>()
    .updateTable('api_keys')
    .set({ revoked_at: now.toISOString() })
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .execute();
  return findKey(transaction, keyId);
}

/** Undoes what issued a key that nobody got to see. */
export async function withdrawKey(transaction: Transaction, { key, old }: IssuedKey & { old?: ApiKey }): Promise<void> {
  await transaction.tables<AccountTables>().deleteFrom('api_keys').where('key_id', '=', key.key_id).execute();
  if (old !== undefined) await setEnd(transaction, old.key_id, old.expires_at);
}

/** Keys by their ids, from one on. */
export async function keysAfter(reader: Reader, keyId: string, limit?: number): Promise<ApiKey[]> {
  const keys = reader.tables<AccountTables>().selectFrom('api_keys').selectAll().where('key_id', '>', keyId);
  const sorted = keys.orderBy('key_id');
  return (await (limit === undefined ? sorted : sorted.limit(limit)).execute()).map(toApiKey);
}

export function scopesOf({ scopes }: { scopes: string }): Scope[] {
  const named = scopes.split(' ');
  return SCOPES.filter((scope) => named.includes(scope));
}

async function findKey(reader: Reader, keyId: string): Promise<ApiKey> {
  const keys = reader.tables<AccountTables>().selectFrom('api_keys').selectAll().where('key_id', '=', keyId);
  const row = await keys.modifyEnd(reader.words.locked).executeTakeFirst();
  if (row === undefined) throw new DomainError('not_found', 'there is no API key of this id');
  return toApiKey(row);
}

async function refuseEnded(transaction: Transaction, key: ApiKey, now: Date): Promise<void> {
  if (key.revoked_at !== null) throw new DomainError('key_ended', `the API key was revoked at ${key.revoked_at}`);
  if (key.expires_at !== null && key.expires_at <= now.toISOString())
    throw new DomainError('key_ended', `the API key expired at ${key.expires_at}`);
  const keys = transaction.tables<AccountTables>().selectFrom('api_keys').select('key_id');
  const next = await keys.where('rotated_from', '=', key.key_id).executeTakeFirst();
  if (next !== undefined) throw new DomainError('key_ended', `the API key was rotated: ${next.key_id} is in its place`);
}

async function insertKey(
  transaction: Transaction,
  { name, scopes, expiresAt }: KeyWishes,
  issuer: Issuer,
  rotatedFrom: string | null,
): Promise<IssuedKey> {
  const refused = scopes.find((scope) => !issuer.scopes.includes(scope));
  if (refused !== undefined)
    throw new DomainError('forbidden', `the API key of this request has not got the scope ${refused}: it gives none`);
  const now = issuer.now.toISOString();
  if (expiresAt !== null && expiresAt <= now)
    throw new DomainError('invalid_request', `expires_at: ${expiresAt} is past`);
  const { id, text, sha256 } = createKey();
  const row: ApiKeyTable = {
    key_id: id,
    sha256,
    name,
    scopes: SCOPES.filter((scope) => scopes.includes(scope)).join(' '),
    created_at: now,
    expires_at: expiresAt,
    revoked_at: null,
    last_used_at: null,
    rotated_from: rotatedFrom,
  };
  await transaction.tables<AccountTables>().insertInto('api_keys').values(row).execute();
  return { key: toApiKey(row), text };
}

async function setEnd(transaction: Transaction, keyId: string, expiresAt: string | null): Promise<void> {
  const keys = transaction.tables<AccountTables>().updateTable('api_keys').set({ expires_at: expiresAt });
  await keys.where('key_id', '=', keyId).execute();
}

function toApiKey({ sha256: _, ...row }: ApiKeyTable): ApiKey {
  return { ...row, scopes: scopesOf(row) };
}
