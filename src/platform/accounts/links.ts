import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { LinkPurpose, PeopleTables } from './people-tables.ts';
import { newToken, tokenDigest } from './secrets.ts';

const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Makes a link that is good once, within a day. @returns its token, which is stored nowhere. */
export async function makeLink(
  transaction: Transaction,
  purpose: LinkPurpose,
  content: Json,
  now: Date,
): Promise<string> {
  const { text, sha256 } = newToken();
  const expires_at = new Date(now.getTime() + LIFETIME_MS).toISOString();
  await transaction
    .tables<PeopleTables>()
    .insertInto('links')
    .values({ sha256, purpose, content: JSON.stringify(content), expires_at, used_at: null })
    .execute();
  return text;
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
): Promise<Json> {
  const used_at = now.toISOString();
  const link = await transaction
    .tables<PeopleTables>()
    .updateTable('links')
    .set({ used_at })
    .where('sha256', '=', tokenDigest(token))
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', used_at)
    .returning('content')
    .executeTakeFirst();
  if (link === undefined)
    throw new DomainError('link_used', 'this link was used already, or is older than a day; ask for another one');
  return JSON.parse(link.content) as Json;
}
