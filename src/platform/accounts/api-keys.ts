import type { z } from 'zod';
import type { Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError, invalidField } from '../errors.ts';
import { sortedPage } from '../http/newest-first.ts';
import type { Actor, AppendLimits } from '../http/principal.ts';
import { rowFinder } from '../rows.ts';
import { isScope, SCOPES, type Scope } from '../scopes.ts';
import { type Administration, personNamed, refuseScopes } from './administration.ts';
import { createKey, type NewKey } from './key.ts';
import { sealedKeys } from './sealed-rows.ts';
import { ACCOUNT_TABLES, type AccountTables } from './tables.ts';
import type { keyQuerySchema, rotationSchema } from './wire.ts';

/** API key without its digest. */
export interface ApiKey extends Omit<AccountTables['api_keys'], 'sha256' | 'scopes' | 'streams' | 'seal'> {
  scopes: Scope[];
  /** Patterns of the streams to which the key may append; null for any. */
  streams: string[] | null;
}

/** New API key. Its text is not stored and cannot be shown again. */
export interface IssuedKey {
  key: ApiKey;
  text: string;
}

export interface KeyInput {
  name: string;
  scopes: readonly Scope[];
  /** RFC 3339 UTC with milliseconds; null for a key that does not expire. */
  expiresAt: string | null;
  /** Sole subject that the key may act for, such as `endpoint:ID`. */
  boundTo?: string | null;
  limits?: AppendLimits;
}

/** Context of issuing a key. */
export interface Issuing {
  actor: Actor;
  now: Date;
  administration: Administration;
  /** Key whose text was made elsewhere. */
  given?: NewKey | undefined;
}

/** @throws DomainError `forbidden`; `invalid_request` for an expiry in the past. */
export async function issueKey(transaction: Transaction, input: KeyInput, issuing: Issuing): Promise<IssuedKey> {
  const issued = await insertKey(transaction, input, issuing, null);
  await recordOf(transaction, issuing, 'key.made', issued.key);
  return issued;
}

/**
 * Issues a key with the name and scopes of another, which ends after the overlap.
 * @throws DomainError `not_found`, `forbidden`, `invalid_request`; `key_ended` if the key has ended or was rotated
 * before.
 */
export async function rotateKey(
  transaction: Transaction,
  keyId: string,
  { overlap_seconds, expires_at }: z.output<typeof rotationSchema>,
  issuing: Issuing,
): Promise<IssuedKey & { old: ApiKey }> {
  const { now } = issuing;
  const old = await findKey(transaction, keyId);
  await refuseEnded(transaction, old, now);
  const input = {
    ...old,
    expiresAt: expires_at === undefined ? old.expires_at : expires_at,
    boundTo: old.bound_to,
    limits: old,
  };
  const issued = await insertKey(transaction, input, issuing, old);
  const overlap = new Date(now.getTime() + overlap_seconds * 1000).toISOString();
  const old_expires_at = old.expires_at === null || overlap < old.expires_at ? overlap : old.expires_at;
  if (old_expires_at !== old.expires_at) await changeKey(transaction, old, { expires_at: old_expires_at });
  await recordOf(transaction, issuing, 'key.rotated', issued.key, { old_expires_at });
  return { ...issued, old };
}

/** Revokes a key immediately; a key that is already revoked stays unchanged. @throws DomainError `not_found`. */
export async function revokeKey(
  transaction: Transaction,
  keyId: string,
  { actor, now, administration }: Issuing,
): Promise<ApiKey> {
  const key = await findKey(transaction, keyId);
  if (key.revoked_at !== null) return key;
  const revoked_at = now.toISOString();
  await changeKey(transaction, key, { revoked_at });
  await administration.record(transaction, { actor, action: 'key.revoked', of: ['api_key', keyId] });
  return { ...key, revoked_at };
}

/** Revokes the keys bound to a subject such as `endpoint:ID`. @returns the keys that were valid until now. */
export async function revokeBoundKeys(transaction: Transaction, boundTo: string, issuing: Issuing): Promise<ApiKey[]> {
  const keys = transaction.tables<AccountTables>().selectFrom('api_keys').select('key_id');
  const good = keys.where('bound_to', '=', boundTo).where('revoked_at', 'is', null).orderBy('key_id');
  const revoked: ApiKey[] = [];
  for (const { key_id } of await good.execute()) revoked.push(await revokeKey(transaction, key_id, issuing));
  return revoked;
}

/** Undoes the issue of a key whose text was never shown. */
export async function withdrawKey(
  transaction: Transaction,
  { key, old }: IssuedKey & { old?: ApiKey },
  { actor, administration }: Pick<Issuing, 'actor' | 'administration'>,
): Promise<void> {
  await transaction.tables<AccountTables>().deleteFrom('api_keys').where('key_id', '=', key.key_id).execute();
  if (old !== undefined) await changeKey(transaction, old, { expires_at: old.expires_at });
  const more = old === undefined ? {} : { rotated_from: old.key_id, old_expires_at: old.expires_at };
  await administration.record(transaction, { actor, action: 'key.withdrawn', of: ['api_key', key.key_id], more });
}

/** Returns all keys, newest first. */
export async function allKeys(reader: Reader): Promise<ApiKey[]> {
  const keys = reader.tables<AccountTables>().selectFrom('api_keys').selectAll();
  return (await keys.orderBy('created_at', 'desc').orderBy('key_id', 'desc').execute()).map(toApiKey);
}

/** Filters and page of a list of keys. */
export type KeyQuery = z.output<typeof keyQuerySchema>;

/** Lists keys, newest first. @throws DomainError `invalid_cursor`. */
export async function listKeys(reader: Reader, { maker_id, maker_state, ...query }: KeyQuery) {
  const by = { created_at: 'string', key_id: 'string' } as const;
  const tables = reader.tables<AccountTables>();
  let keys = tables.selectFrom('api_keys').selectAll();
  if (maker_id !== undefined) keys = keys.where('maker_id', '=', maker_id);
  const disabled = tables.selectFrom('people').select('person_id').where('disabled_at', 'is not', null);
  if (maker_state !== undefined) keys = keys.where('maker_id', 'in', disabled);
  const { page, next_cursor } = await sortedPage(keys, { list: 'keys', by, direction: 'desc' }, query);
  return { data: page.map(toApiKey), next_cursor };
}

export function scopesOf({ scopes }: { scopes: string }): Scope[] {
  return scopes.split(' ').filter(isScope);
}

/** @throws DomainError `not_found`. */
export async function findKey(reader: Reader, keyId: string): Promise<ApiKey> {
  return toApiKey(await keyRow(reader, keyId));
}

const keyRow = rowFinder(ACCOUNT_TABLES, 'api_keys', 'key_id', {
  missing: 'no API key has this ID',
  isLocked: true,
});

async function refuseEnded(transaction: Transaction, key: ApiKey, now: Date): Promise<void> {
  if (key.revoked_at !== null) throw new DomainError('key_ended', `the API key was revoked at ${key.revoked_at}`);
  if (key.expires_at !== null && key.expires_at <= now.toISOString())
    throw new DomainError('key_ended', `the API key expired at ${key.expires_at}`);
  const keys = transaction.tables<AccountTables>().selectFrom('api_keys').select('key_id');
  const next = await keys.where('rotated_from', '=', key.key_id).executeTakeFirst();
  if (next !== undefined) throw new DomainError('key_ended', `the API key was rotated; ${next.key_id} replaces it`);
}

async function insertKey(
  transaction: Transaction,
  { name, scopes, expiresAt, boundTo = null, limits }: KeyInput,
  { actor, now: at, given = createKey() }: Issuing,
  old: ApiKey | null,
): Promise<IssuedKey> {
  refuseScopes(actor, scopes);
  const now = at.toISOString();
  if (expiresAt !== null && expiresAt <= now) throw invalidField('expires_at', `${expiresAt} is in the past`);
  const { id, text, sha256 } = given;
  const row = sealedKeys.sealed(transaction, {
    key_id: id,
    sha256,
    name,
    scopes: SCOPES.filter((scope) => scopes.includes(scope)).join(' '),
    created_at: now,
    expires_at: expiresAt,
    revoked_at: null,
    last_used_at: null,
    rotated_from: old?.key_id ?? null,
    lineage: old?.lineage ?? id,
    bound_to: boundTo,
    streams: limits?.streams == null ? null : JSON.stringify(limits.streams),
    actor: limits?.actor ?? null,
    maker_id: await makerIdOf(transaction, actor),
  });
  await transaction.tables<AccountTables>().insertInto('api_keys').values(row).execute();
  return { key: toApiKey(row), text };
}

/** Returns the person behind an actor, also behind a key; null if there is none. */
async function makerIdOf(transaction: Transaction, { name }: Actor): Promise<string | null> {
  const keyId = /^key:(.*)$/.exec(name)?.[1];
  if (keyId === undefined) return personNamed(name);
  const keys = transaction.tables<AccountTables>().selectFrom('api_keys').select('maker_id');
  return (await keys.where('key_id', '=', keyId).executeTakeFirst())?.maker_id ?? null;
}

function recordOf(
  transaction: Transaction,
  { actor, administration }: Issuing,
  action: 'key.made' | 'key.rotated',
  { key_id, name, scopes, expires_at, rotated_from, bound_to, streams, actor: sole }: ApiKey,
  also: Record<string, Json> = {},
): Promise<void> {
  const more = {
    name,
    scopes,
    expires_at,
    ...(rotated_from === null ? {} : { rotated_from }),
    ...(bound_to === null ? {} : { bound_to }),
    ...(streams === null ? {} : { streams }),
    ...(sole === null ? {} : { actor: sole }),
    ...also,
  };
  return administration.record(transaction, { actor, action, of: ['api_key', key_id], more });
}

const changeKey = sealedKeys.change;

function toApiKey(row: AccountTables['api_keys']): ApiKey {
  return {
    ...pick(row, ['key_id', 'name', 'created_at', 'expires_at', 'revoked_at', 'last_used_at']),
    ...pick(row, ['rotated_from', 'lineage', 'bound_to', 'actor', 'maker_id']),
    scopes: scopesOf(row),
    streams: limitsOf(row).streams,
  };
}

/** Returns the limits on the entries that a key may append. */
export function limitsOf({ streams, actor }: Pick<AccountTables['api_keys'], 'streams' | 'actor'>) {
  return { streams: streams === null ? null : (JSON.parse(streams) as string[]), actor };
}

/** Returns the names of API keys by their ids. */
export async function keyNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const keys = reader.tables<AccountTables>().selectFrom('api_keys').select(['key_id', 'name']);
  const rows = await keys.where(reader.sql.isAmong('key_id', ids)).execute();
  return new Map(rows.map(({ key_id, name }) => [key_id, name]));
}
