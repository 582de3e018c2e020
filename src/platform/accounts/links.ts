import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomUUID } from 'node:crypto';
import type { ExpressionBuilder } from 'kysely';
import type { Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { tokenDigest } from '../secrets.ts';
import { sealedLinks } from './sealed-rows.ts';
import type { AccountTables, LinkPurpose } from './tables.ts';

const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Link, and the JSON for the person who follows it. */
export interface Link {
  link_id: string;
  content: Json;
}

/** Link that is still valid, as shown to those who may end it. */
export interface OpenLink extends Link {
  /** Actor, as named in acts; null if the recipient requested the link. */
  made_by: string | null;
  expires_at: string;
}

/** Paths of the pages by purpose, before the token. */
const PATHS: Record<LinkPurpose, string> = {
  set_up: '/app/set-up/',
  confirm: '/app/confirm/',
  invite: '/app/invited/',
  reset: '/app/reset/',
};

/** Returns the address of a link. @param publicUrl public address of the platform, without a trailing slash. */
export function linkUrl(publicUrl: string, purpose: LinkPurpose, token: string): string {
  return `${publicUrl}${PATHS[purpose]}${token}`;
}

/**
 * One-time links that are valid for a day. The token of a link is derived from its id with a key that is not in the
 * database. A repeated mail therefore contains the same link, and readers of the database cannot follow any.
 */
export class OneTimeLinks {
  readonly #key: KeyObject;

  /** @param masterKey of the data folder; each use of it derives a separate key. */
  constructor(masterKey: Uint8Array) {
    const derived = hkdfSync('sha256', masterKey, Buffer.alloc(32), 'accounts/links', 32);
    this.#key = createSecretKey(Buffer.from(derived));
  }

  /** @param maker actor who hands the link to another person. @returns the id of a new link. */
  async make(
    transaction: Transaction,
    purpose: LinkPurpose,
    content: Json,
    now: Date,
    maker?: Pick<Actor, 'name'>,
  ): Promise<string> {
    const link_id = randomUUID();
    const sha256 = tokenDigest(this.token(link_id));
    const made_by = maker?.name ?? null;
    const link = { link_id, sha256, purpose, content: JSON.stringify(content), made_by, expires_at: endOf(now) };
    const links = transaction.tables<AccountTables>().insertInto('links');
    await links.values(sealedLinks.sealed(transaction, { ...link, used_at: null })).execute();
    return link_id;
  }

  /** Returns the token in the address of a link. */
  token(linkId: string): string {
    return createHmac('sha256', this.#key).update(linkId).digest('base64url');
  }
}

/** Returns the condition that a link has a purpose and is valid. */
function isGood(purpose: LinkPurpose, now: Date) {
  return ({ and, eb }: ExpressionBuilder<AccountTables, 'links'>) =>
    and([eb('purpose', '=', purpose), eb('used_at', 'is', null), eb('expires_at', '>', now.toISOString())]);
}

/** Reads a link without consuming it. @throws DomainError `link_used` as `takeLink`. */
export async function readLink(reader: Reader, purpose: LinkPurpose, token: string, now: Date): Promise<Link> {
  return toLink(await goodLink(reader, purpose, token, now).executeTakeFirst(), reader);
}

/**
 * Consumes a link. If two requests do so at once, one succeeds.
 * @throws DomainError `link_used` if the link was used, has expired, or does not exist; the same message for all, so
 * that links cannot be probed.
 */
export async function takeLink(
  transaction: Transaction,
  purpose: LinkPurpose,
  token: string,
  now: Date,
): Promise<Link> {
  const links = goodLink(transaction, purpose, token, now).modifyEnd(transaction.sql.locked);
  const link = toLink(await links.executeTakeFirst(), transaction);
  await sealedLinks.change(transaction, link, { used_at: now.toISOString() });
  return link;
}

function goodLink(reader: Reader, purpose: LinkPurpose, token: string, now: Date) {
  const links = reader.tables<AccountTables>().selectFrom('links').selectAll();
  return links.where('sha256', '=', tokenDigest(token)).where(isGood(purpose, now));
}

/** Ends all links with the same content. */
export async function endLinks(
  transaction: Transaction,
  purpose: LinkPurpose,
  content: Json,
  now: Date,
): Promise<void> {
  const links = transaction.tables<AccountTables>().selectFrom('links').select('link_id');
  const alike = links.where('purpose', '=', purpose).where('content', '=', JSON.stringify(content));
  for (const link of await alike.where('used_at', 'is', null).orderBy('link_id').execute())
    await sealedLinks.change(transaction, link, { used_at: now.toISOString() });
}

/** Returns a valid link; or its state: used or ended, expired, of another purpose or changed outside the platform. */
export async function linkOfLetter(
  reader: Reader,
  purpose: LinkPurpose,
  linkId: string,
  now: Date,
): Promise<Link | 'ended' | 'too_old' | 'changed'> {
  const links = reader.tables<AccountTables>().selectFrom('links').selectAll();
  const row = await links.where('link_id', '=', linkId).executeTakeFirst();
  if (row !== undefined && row.used_at !== null) return 'ended';
  if (row === undefined || row.expires_at <= now.toISOString()) return 'too_old';
  return row.purpose === purpose && sealedLinks.isWhole(reader, row) ? toLink(row, reader) : 'changed';
}

/** @returns null if no valid link has this id. */
export async function openLink(
  reader: Reader,
  purpose: LinkPurpose,
  linkId: string,
  now: Date,
): Promise<OpenLink | null> {
  const link = await selectOpen(reader, purpose, now).where('link_id', '=', linkId).executeTakeFirst();
  return link === undefined ? null : toOpen(link);
}

/** Returns the query for the valid links of a purpose. */
export function selectOpen(reader: Reader, purpose: LinkPurpose, now: Date) {
  return reader.tables<AccountTables>().selectFrom('links').select(OPEN).where(isGood(purpose, now));
}

export function toOpen({ content, ...link }: Omit<OpenLink, 'content'> & { content: string }): OpenLink {
  return { ...link, content: JSON.parse(content) as Json };
}

/** Ends a valid link, or extends it as if it were new. @returns null if no valid link has this id. */
export async function changeLink(
  transaction: Transaction,
  purpose: LinkPurpose,
  linkId: string,
  change: 'end' | 'extend',
  now: Date,
): Promise<OpenLink | null> {
  const set = change === 'end' ? { used_at: now.toISOString() } : { expires_at: endOf(now) };
  const open = selectOpen(transaction, purpose, now).where('link_id', '=', linkId);
  const link = await open.modifyEnd(transaction.sql.locked).executeTakeFirst();
  if (link === undefined) return null;
  await sealedLinks.change(transaction, link, set);
  return toOpen({ ...link, ...set });
}

const OPEN = ['link_id', 'content', 'made_by', 'expires_at'] as const;

/** Returns the expiry of a link made now. */
function endOf(now: Date): string {
  return new Date(now.getTime() + LIFETIME_MS).toISOString();
}

/** Deletes expired links. */
export async function forgetLinks(transaction: Transaction, now: Date): Promise<void> {
  await transaction.tables<AccountTables>().deleteFrom('links').where('expires_at', '<', now.toISOString()).execute();
}

export function linkUsed(): DomainError {
  return new DomainError('link_used', 'this link was already used or has expired; request another one');
}

/** @throws DomainError `link_used` also for a link that is not as the platform wrote it. */
function toLink(row: AccountTables['links'] | undefined, reader: Reader): Link {
  if (row === undefined || !sealedLinks.isWhole(reader, row)) throw linkUsed();
  return { link_id: row.link_id, content: JSON.parse(row.content) as Json };
}
