import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Markup } from '../../../core/html/markup.ts';
import { markup, name } from '../../../core/html/markup.ts';
import { serveOperationList } from '../../operations/list.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, dataTable, emptyState, factList, link, moment, momentOr, statusWord } from '../../web/components.ts';
import { hidden } from '../../web/fields.ts';
import { filterSelect } from '../../web/filters.ts';
import { withQuery } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import type { ApiKey, KeyQuery } from '../api-keys.ts';
import type { MadeKey } from '../key-makers.ts';
import type { ApiKeys } from '../keys.ts';
import { keyOperations } from '../operations/keys.ts';
import { keyParamsSchema } from '../wire.ts';
import { keyActPages } from './key-acts.ts';
import { KEYS_PATH, keyPath, makerPath } from './paths.ts';

export interface KeyPageParts {
  keys: ApiKeys;
  clock: () => Date;
}

/** Pages of API keys: the list, and the acts on them. */
export async function keyPages(server: FastifyInstance, parts: KeyPageParts): Promise<void> {
  const { keys, clock } = parts;
  serveOperationList(server, keyOperations(keys).listApiKeys, {
    path: '/keys',
    api: '/keys',
    head: () => ({
      title: 'API keys',
      introduction: 'Programs use API keys to call the platform. A key can do only what its scopes allow.',
    }),
    before: (request) =>
      forWhoMay(request, 'keys:write', () => markup`<p>${action(`${KEYS_PATH}/new`, 'Create an API key')}</p>\n`),
    filters: (asked) => keyFilters(asked),
    table: (rows) => keyTable(rows, clock()),
  });
  servePage(server, {
    path: '/keys/:key_id',
    access: { scope: 'keys:read' },
    params: keyParamsSchema,
    async view({ request, params: { key_id } }) {
      const key = await keys.find(key_id);
      return {
        title: key.name,
        above: [{ title: 'API keys', path: KEYS_PATH }],
        content: [keyFacts(key, clock()), isGood(key, clock()) ? keyActs(request, key) : null],
        api: { path: '/keys/' },
      };
    },
  });
  keyActPages(server, parts);
}

function keyFilters(asked: Omit<KeyQuery, 'limit' | 'cursor'>): Markup {
  const { maker_id } = asked;
  const person = maker_id === undefined ? null : hidden('maker_id', maker_id);
  return markup`${person}${filterSelect(asked, ['maker_state', 'Maker'], ['disabled'])}`;
}

/** Renders the maker of a key. */
function makerOf({ maker }: MadeKey): Markup {
  if (maker === null) return markup`<span class="minor">a command or service</span>`;
  const made = link(withQuery(KEYS_PATH, { maker_id: maker.person_id }), maker.name);
  return maker.state === 'enabled' ? made : markup`${made} ${statusWord('warning', maker.state)}`;
}

function keyTable(keys: readonly MadeKey[], now: Date): Markup {
  return dataTable({
    caption: 'API keys',
    columns: [
      {
        head: 'Name',
        kind: 'name',
        cell: (key) => markup`${link(keyPath(key.key_id), key.name)} <code class="minor">sk_${key.key_id}_…</code>`,
      },
      { head: 'Status', cell: (key) => keyState(key, now) },
      { head: 'Scopes', cell: ({ scopes }) => scopeList(scopes) },
      { head: 'Made by', cell: makerOf },
      { head: 'Created', cell: ({ created_at }) => moment(created_at, now) },
      { head: 'Last used', cell: ({ last_used_at }) => momentOr(last_used_at, now, 'never') },
      { head: 'Expires', cell: ({ expires_at }) => momentOr(expires_at, now, 'never') },
    ],
    rows: keys,
    empty: emptyState(
      'No API keys.',
      markup`<pre>evidence-platform keys create --data DIR --name NAME --scope audit:read</pre>`,
    ),
  });
}

function keyFacts(key: MadeKey, now: Date): Markup {
  return factList([
    ['Status', keyState(key, now)],
    ['Prefix', markup`<code>sk_${key.key_id}_</code>`],
    ['Scopes', scopeList(key.scopes)],
    ...(key.streams === null ? [] : [['Appends only to', scopeList(key.streams)] as const]),
    ...(key.actor === null ? [] : [['Appends only as', name(key.actor)] as const]),
    ['Made by', makerOf(key)],
    ['Created', moment(key.created_at, now)],
    ['Last used', momentOr(key.last_used_at, now, 'never')],
    ['Expires', momentOr(key.expires_at, now, 'never')],
    ...(key.revoked_at === null ? [] : [['Revoked', moment(key.revoked_at, now)] as const]),
    ...(key.rotated_from === null ? [] : [['Replaces', link(keyPath(key.rotated_from), key.rotated_from)] as const]),
  ]);
}

function keyActs(request: FastifyRequest, key: MadeKey): Markup | null {
  return forWhoMay(
    request,
    'keys:write',
    () =>
      markup`<p class="acts">${action(`${keyPath(key.key_id)}/rotate`, 'Rotate', 'quiet')}${action(`${keyPath(key.key_id)}/revoke`, 'Revoke', 'quiet')}${key.maker === null ? null : action(`${makerPath(key.maker.person_id)}/revoke`, 'Revoke all keys of the maker', 'quiet')}</p>\n`,
  );
}

export function scopeList(scopes: readonly string[]): Markup {
  return markup`<ul class="words">${scopes.map((scope) => markup`<li><code>${name(scope)}</code></li>`)}</ul>`;
}

const SOON_MS = 14 * 24 * 60 * 60 * 1000;

/** Returns the state of a key in a word. */
function keyState(key: ApiKey, now: Date): Markup {
  if (key.revoked_at !== null) return statusWord('neutral', 'revoked');
  if (key.expires_at === null) return statusWord('good', 'good');
  const left = Date.parse(key.expires_at) - now.getTime();
  if (left <= 0) return statusWord('neutral', 'expired');
  return left < SOON_MS ? statusWord('warning', 'expires soon') : statusWord('good', 'good');
}

function isGood({ revoked_at, expires_at }: ApiKey, now: Date): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now.toISOString());
}
