import { sha256 } from '../../core/digest.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import { plural } from '../../core/plurals.ts';
import { itemsOf } from '../../verifier/profile/answers.ts';
import type { List, Paging } from '../../verifier/profile/list-description.ts';
import { valueAt } from '../../verifier/profile/path.ts';
import { LimitError } from './answer.ts';
import type { Exchange, PageAnswer, ReceivedPage } from './exchange.ts';
import { type KnownItems, PageReader } from './page-reader.ts';
import { NO_SERVICE_THERE } from './problem.ts';
import type { Transport } from './transport.ts';

export interface Page {
  /** Address of the page, for errors. */
  url: string;
  /** Number of known items before the others. */
  known: number;
  items: Json[];
  /** Date header of the answer. */
  date: string | null;
  received: ReceivedPage;
  /** Created when it is called. */
  exchange(): Exchange;
}

/** Options for reading the pages of a list. */
interface PageOptions {
  /** Items that are expected next; matching items are not parsed. */
  known?: KnownItems | undefined;
  /**
   * Receives every page as it arrived, even an empty one, before it is parsed. The bytes are valid until it returns.
   */
  keep?(body: Uint8Array): void;
}

/** Next step for a list that cannot be trusted. */
export const ASK_OPERATOR = {
  nextStep: 'Nothing was exported instead. Ask the operator of the service; earlier archived bundles are kept.',
};

/** Maximum length of a page's address, which is recorded. Servers accept no longer ones. */
const MAX_ADDRESS = 8192;

/** Maximum number of consecutive empty pages, and of empty pages in a list. A longer list is considered endless. */
const MAX_EMPTY_PAGES = 100;
const MAX_EMPTY_IN_ALL = 1000;

/**
 * Yields the pages of a list. A list that leads back to an earlier page never ends, so it is refused.
 *
 * @param base of the service, without a trailing slash.
 * @throws EvidenceError `contract` if a page has another shape, `service` if the list is circular or leads to another
 * origin.
 */
export async function* readPages(
  transport: Transport,
  base: string,
  list: List,
  filter: Readonly<Record<string, string>>,
  { known, keep }: PageOptions = {},
): AsyncGenerator<Page> {
  const { paging } = list;
  // Numbered pages show a circular list only by repeated items.
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
    // A numbered list ends with an empty page. A short page may only be filtered to what the key may see.
    if (counted && items.length === 0) return;
    const turn: string | null = counted ? sha256(JSON.stringify(items)) : nextOf(list, body, link, url);
    if (turn === null) return;
    extent.goOn(url, counted ? turn : sha256(turn));
    if (paging.style === 'link') url = linked(turn, url, base);
    else if (paging.style !== 'single')
      url = withParameter(first, paging.parameter, placeOf(paging, { turn, read, number }));
  }
}

/** Counts the pages of one list, and throws for a list that does not end. */
class Extent {
  readonly #most: number;
  readonly #turned = new Set<string>();
  #pages = 0;
  #empty = 0;
  #emptyInAll = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @param items of a page, including known ones. */
  add(url: string, items: number): void {
    this.#pages++;
    this.#empty = items === 0 ? this.#empty + 1 : 0;
    this.#emptyInAll += items === 0 ? 1 : 0;
    if (this.#empty > MAX_EMPTY_PAGES) throw endless(url, `and the ${MAX_EMPTY_PAGES} pages before it are empty`);
    if (this.#emptyInAll > MAX_EMPTY_IN_ALL) throw endless(url, `and ${MAX_EMPTY_IN_ALL} pages before it are empty`);
  }

  /** Records that another page follows. @param mark digest of the reference to that page, which may be long. */
  goOn(url: string, mark: string): void {
    if (this.#turned.has(mark)) throw endless(url, 'leads back to a page that was already read');
    this.#turned.add(mark);
    if (this.#pages < this.#most) return;
    throw new LimitError(
      `${url} goes on after ${plural(this.#pages, 'page')}: the list never ends`,
      'If the list is really that long, raise source.limits.pages.',
    );
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

/**
 * Returns the value of the paging parameter for the next page. @param read number of items so far. @param number of
 * pages so far.
 */
function placeOf(
  paging: Exclude<Paging, { style: 'single' | 'link' }>,
  { turn, read, number }: { turn: string; read: number; number: number },
): string | number {
  if (paging.style === 'cursor') return turn;
  return paging.style === 'offset' ? read : paging.first + number;
}

/**
 * Yields the pages of the first list that an export requests. If its first page is not found, the address is probably
 * wrong.
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

/** Returns the reference to the next page; null after the last. */
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

/** Returns the target of `rel="next"` (RFC 8288, section 3). */
function linkToNext(header: string | null): string | null {
  for (const [, target, parameters] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[^,;"]+(?:"[^"]*")?)*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?:\s|;|$))/i.test(parameters ?? ''))
      return target ?? null;
  return null;
}

/** Resolves a link to the next page. Throws for another origin, because only the service's own may receive the key. */
function linked(next: string, url: string, base: string): string {
  const target = URL.canParse(next, url) ? new URL(next, url) : null;
  if (target !== null && target.origin === new URL(base).origin) return target.href;
  throw new EvidenceError(
    'service',
    `${url} names a next page at ${target?.origin ?? 'no address'}, which is not the service and was not followed`,
    ASK_OPERATOR,
  );
}

function noList(url: string, { items }: List): EvidenceError {
  const where = items === '' ? 'is no list' : `has no list "${items}"`;
  return new EvidenceError('contract', `the answer of ${url} ${where}`);
}

function noNext(url: string, path: string): EvidenceError {
  return new EvidenceError('contract', `the answer of ${url} does not state in "${path}" whether there is a next page`);
}

function tooLong(url: string): EvidenceError {
  const shown = cutText(url, 200);
  return new EvidenceError(
    'service',
    `the address of the next page has ${url.length} characters; the maximum is ${MAX_ADDRESS}: ${shown}`,
    ASK_OPERATOR,
  );
}

function endless(url: string, why: string): EvidenceError {
  return new EvidenceError('service', `${url} ${why}: the list never ends`, ASK_OPERATOR);
}
