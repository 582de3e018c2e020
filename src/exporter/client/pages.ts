import { sha256 } from '../../core/digest.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import { plural } from '../../core/plurals.ts';
import { itemsOf } from '../../verifier/profile/answers.ts';
import type { List, Paging } from '../../verifier/profile/list-description.ts';
import { valueAt } from '../../verifier/profile/path.ts';
import type { Exchange, PageAnswer, ReceivedPage } from './exchange.ts';
import { type KnownItems, PageReader } from './page-reader.ts';
import { NO_SERVICE_THERE } from './problem.ts';
import type { Transport } from './transport.ts';

export interface Page {
  /** For errors. */
  url: string;
  /** The number of known items before the others. */
  known: number;
  items: Json[];
  /** The answer's Date header. */
  date: string | null;
  received: ReceivedPage;
  /** Made when it is asked for. */
  exchange(): Exchange;
}

/** Wishes of a reader of a list for its pages beside their items. */
interface PageOptions {
  /** Items that are expected next; those that come as they are known are not read. */
  known?: KnownItems | undefined;
  /** Sees every page as it was received, an empty one too, before it is read. The bytes are valid until it returns. */
  keep?(body: Uint8Array): void;
}

/** For lists that cannot be trusted. */
export const ASK_OPERATOR = {
  nextStep: 'Nothing was exported in its place. Ask the operator of the service; what was archived before stays.',
};

/** The address of each page is recorded, and servers take no longer ones. */
const MAX_ADDRESS = 8192;

/** Empty pages that may follow each other, and that a list may have in all: one of nothing else does not end. */
const MAX_EMPTY_PAGES = 100;
const MAX_EMPTY_IN_ALL = 1000;

/**
 * The pages of a list. One that leads back to a page that was read never ends, so it is refused.
 *
 * @param base of the service, without a slash at its end.
 * @throws EvidenceError `contract` when a page has another shape, `service` when it leads in a circle or elsewhere.
 */
export async function* readPages(
  transport: Transport,
  base: string,
  list: List,
  filter: Readonly<Record<string, string>>,
  { known, keep }: PageOptions = {},
): AsyncGenerator<Page> {
  const { paging } = list;
  // By number, what tells that a list goes in a circle are its items.
  const counted = paging.style === 'offset' || paging.style === 'page';
  const saysHowItGoesOn = paging.style === 'cursor' || paging.style === 'link';
  const first = firstUrl(base, list, filter);
  const reader = new PageReader(list, counted ? null : (known ?? null));
  let read = 0;
  const extent = new Extent(transport.maxPages);
  let url = first;
  for (let number = 1; ; number++) {
    const answer = await askPage(transport, url, reader, keep);
    const { date, link, received } = answer;
    const body = answer.value as Json;
    const items = itemsOf(list, body);
    if (items === null) throw noList(url, list);
    const length = reader.known + items.length;
    extent.add(url, length);
    read += length;
    if (length > 0 || saysHowItGoesOn || keep !== undefined)
      yield { url, known: reader.known, items, date, received, exchange: () => answer.exchange };
    // By number a list ends with an empty page; a short one may be cut to what the key may see.
    if (counted && items.length === 0) return;
    const turn: string | null = counted ? sha256(JSON.stringify(items)) : nextOf(list, body, link, url);
    if (turn === null) return;
    extent.goOn(url, counted ? turn : sha256(turn));
    if (paging.style === 'link') url = linked(turn, url, base);
    else if (paging.style !== 'single')
      url = withParameter(first, paging.parameter, placeOf(paging, { turn, read, number }));
  }
}

/** Counts the pages of one list, and ends one that never does. */
class Extent {
  readonly #most: number;
  readonly #turned = new Set<string>();
  #pages = 0;
  #empty = 0;
  #emptyInAll = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @param items of a page, those that are known too. */
  add(url: string, items: number): void {
    this.#pages++;
    this.#empty = items === 0 ? this.#empty + 1 : 0;
    this.#emptyInAll += items === 0 ? 1 : 0;
    if (this.#empty > MAX_EMPTY_PAGES) throw endless(url, `and the ${MAX_EMPTY_PAGES} pages before it are empty`);
    if (this.#emptyInAll > MAX_EMPTY_IN_ALL) throw endless(url, `and ${MAX_EMPTY_IN_ALL} pages before it are empty`);
  }

  /** There is another page. @param mark a digest of what leads to it, which may be long. */
  goOn(url: string, mark: string): void {
    if (this.#turned.has(mark)) throw endless(url, 'leads back to a page that was already read');
    this.#turned.add(mark);
    if (this.#pages < this.#most) return;
    throw new EvidenceError('service', `${url} goes on after ${plural(this.#pages, 'page')}: its list never ends`, {
      nextStep: 'If the list has as much as that, raise source.limits.pages.',
    });
  }
}

function askPage(
  transport: Transport,
  url: string,
  reader: PageReader,
  keep: PageOptions['keep'],
): Promise<PageAnswer> {
  if (url.length > MAX_ADDRESS) throw tooLong(url);
  return transport.page({ method: 'GET', url, repeatable: true }, (body) => {
    keep?.(body);
    return reader.read(body);
  });
}

/** Returns the parameters that the next page is asked for with. @param read items so far. @param number of pages so far. */
function placeOf(
  paging: Exclude<Paging, { style: 'single' | 'link' }>,
  { turn, read, number }: { turn: string; read: number; number: number },
): string | number {
  if (paging.style === 'cursor') return turn;
  return paging.style === 'offset' ? read : paging.first + number;
}

/**
 * The pages of the list that is asked for first: an address where not even its first page is, is doubted.
 * @throws EvidenceError `not-found`.
 */
export async function* atAddress(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  let isBegun = false;
  try {
    for await (const page of pages) {
      isBegun = true;
      yield page;
    }
  } catch (error) {
    if (isBegun || !isEvidenceError(error, 'not-found')) throw error;
    throw new EvidenceError('not-found', error.message, NO_SERVICE_THERE);
  }
}

function firstUrl(base: string, { path, limit, paging }: List, filter: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(filter);
  if (limit !== null) query.set(limit.parameter, String(limit.size));
  if (paging.style === 'page') query.set(paging.parameter, String(paging.first));
  const text = query.toString();
  return `${base}${path}${text === '' ? '' : `?${text}`}`;
}

function withParameter(url: string, name: string, value: string | number): string {
  const next = new URL(url);
  next.searchParams.set(name, String(value));
  return next.href;
}

/** Returns the request for the next page; null after the last. */
function nextOf({ paging }: List, body: Json, link: string | null, url: string): string | null {
  if (paging.style === 'single') return null;
  if (paging.style === 'link' && paging.next === null) return linkToNext(link);
  if (paging.style !== 'cursor' && paging.style !== 'link') return null;
  const next = valueAt(body, paging.next ?? '');
  if (next === undefined && !paging.absent_at_end) throw noNext(url, paging.next ?? '');
  if (next === undefined || next === null || next === '') return null;
  if (typeof next === 'string' || typeof next === 'number') return String(next);
  throw noNext(url, paging.next ?? '');
}

/** The target of `rel="next"` (RFC 8288, section 3). */
function linkToNext(header: string | null): string | null {
  for (const [, target, parameters] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[^,;"]+(?:"[^"]*")?)*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?:\s|;|$))/i.test(parameters ?? ''))
      return target ?? null;
  return null;
}

/** The key goes to the service's own origin only. */
function linked(next: string, url: string, base: string): string {
  const target = URL.canParse(next, url) ? new URL(next, url) : null;
  if (target !== null && target.origin === new URL(base).origin) return target.href;
  throw new EvidenceError(
    'service',
    `${url} names a next page at ${target?.origin ?? 'no address'}, which is not the service: it is not followed`,
    ASK_OPERATOR,
  );
}

function noList(url: string, { items }: List): EvidenceError {
  const where = items === '' ? 'is no list' : `has no list "${items}"`;
  return new EvidenceError('contract', `the answer of ${url} ${where}`);
}

function noNext(url: string, path: string): EvidenceError {
  return new EvidenceError('contract', `the answer of ${url} does not say with "${path}" whether there is a next page`);
}

function tooLong(url: string): EvidenceError {
  const shown = cutText(url, 200);
  return new EvidenceError(
    'service',
    `the list names a next page by an address of ${url.length} characters, and ${MAX_ADDRESS} are followed at most: ${shown}`,
    ASK_OPERATOR,
  );
}

function endless(url: string, why: string): EvidenceError {
  return new EvidenceError('service', `${url} ${why}: its list never ends`, ASK_OPERATOR);
}
