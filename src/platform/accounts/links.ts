import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomUUID } from 'node:crypto';
import type { Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { tokenDigest } from '../secrets.ts';
import type { LinkPurpose, PeopleTables } from './people-tables.ts';

const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** What a link is for, and what whoever follows it gets. */
export interface Link {
  link_id: string;
  content: Json;
}

/** Where the page of each purpose is, before its token. */
const PATHS: Record<LinkPurpose, string> = {
  set_up: '/app/set-up/',
  confirm: '/app/confirm/',
  invite: '/app/invited/',
  reset: '/app/reset/',
};

/** The address of a link. @param publicUrl where browsers reach the platform, without a slash at its end. */
export function linkUrl(publicUrl: string, purpose: LinkPurpose, token: string): string {
  return `${publicUrl}${PATHS[purpose]}${token}`;
}

/**
 * OneTimeLinks that are good once, within a day. The token of a link follows from its id under a key that is not in the database:
 * a mail that is sent a second time has the same link in it, and who reads the database has none.
 */
export class OneTimeLinks {
  readonly #key: KeyObject;

  /** @param masterKey of the data folder; what it is used for elsewhere is derived under another name. */
  constructor(masterKey: Uint8Array) {
    const derived = hkdfSync('sha256', masterKey, Buffer.alloc(32), 'accounts/links', 32);
    this.#key = createSecretKey(Buffer.from(derived));
  }

  /** @returns the id of a new link. */
  async make(transaction: Transaction, purpose: LinkPurpose, content: Json, now: Date): Promise<string> {
    const link_id = randomUUID();
    const expires_at = new Date(now.getTime() + LIFETIME_MS).toISOString();
    const sha256 = tokenDigest(this.token(link_id));
    await transaction
      .tables<PeopleTables>()
      .insertInto('links')
      .values({ link_id, sha256, purpose, content: JSON.stringify(content), expires_at, used_at: null })
      .execute();
    return link_id;
  }

  /** What stands in the address of a link. */
  token(linkId: string): string {
    return createHmac('sha256', this.#key).update(linkId).digest('base64url');
  }
}

/** A link as it is now, without taking it. @throws DomainError `link_used` as `takeLink`. */
export async function readLink(reader: Reader, purpose: LinkPurpose, token: string, now: Date): Promise<Link> {
  const link = await reader
    .tables<PeopleTables>()
    .selectFrom('links')
    .select(['link_id', 'content'])
    .where('sha256', '=', tokenDigest(token))
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now.toISOString())
    .executeTakeFirst();
  return toLink(link);
}

/**
 * Takes a link. Of two who follow it at once one has it.
 * @throws DomainError `link_used`: used, too old, or none: one sentence for all, which tells nobody what there is.
 */
export async function takeLink(
  transaction: Transaction,
  purpose: LinkPurpose,
  token: string,
  now: Date,
): Promise<Link> {
  const used_at = now.toISOString();
  const link = await transaction
    .tables<PeopleTables>()
    .updateTable('links')
    .set({ used_at })
    .where('sha256', '=', tokenDigest(token))
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', used_at)
    .returning(['link_id', 'content'])
    .executeTakeFirst();
  return toLink(link);
}

/** Ends all links that have the same content. */
export async function endLinks(
  transaction: Transaction,
  purpose: LinkPurpose,
  content: Json,
  now: Date,
): Promise<void> {
  await transaction
    .tables<PeopleTables>()
    .updateTable('links')
    .set({ used_at: now.toISOString() })
    .where('purpose', '=', purpose)
    .where('content', '=', JSON.stringify(content))
    .where('used_at', 'is', null)
    .execute();
}

/** Removes what nobody can follow any more. */
export async function forgetLinks(transaction: Transaction, now: Date): Promise<void> {
  await transaction.tables<PeopleTables>().deleteFrom('links').where('expires_at', '<', now.toISOString()).execute();
}

export function linkUsed(): DomainError {
  return new DomainError('link_used', 'this link was used already, or is older than a day; ask for another one');
}

function toLink(row: { link_id: string; content: string } | undefined): Link {
  if (row === undefined) throw linkUsed();
  return { link_id: row.link_id, content: JSON.parse(row.content) as Json };
}
