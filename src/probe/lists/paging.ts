import type { Json } from '../../core/json/canonical.ts';
import type { List, Paging } from '../../verifier/profile/list-description.ts';
import { valueAt } from '../../verifier/profile/path.ts';
import { byName } from '../sample/names.ts';
import {
  type Ask,
  arrayPaths,
  isObject,
  isSuccess,
  jsonOf,
  type Sample,
  type SampleAnswer,
  type SampleRequest,
  samplesAt,
} from '../sample/sample.ts';

/** Page of a list. */
export interface SamplePage {
  items: Sample[];
  /** Whole answer. */
  value: Json;
  link: string | null;
}

export interface Pages {
  items: Sample[];
  /** True if the list was read to its end. */
  isWhole: boolean;
  /** Last page of the list; null if the end was not reached. */
  last: SamplePage | null;
}

const ITEM_NAMES = [/^(data|items|results|records|rows|list)$/, /^(streams|entries|logs|events|values|content)$/];

/**
 * Returns the path of the items in an answer: the shallowest array of objects, or an empty array if there is no other.
 */
export function itemsPathOf(value: Json | undefined): string | null {
  const arrays = arrayPaths(value).map((path) => ({ path, items: valueAt(value, path) as Json[] }));
  const ofObjects = arrays.filter(({ items }) => items.length > 0 && items.every(isObject));
  const candidates = ofObjects.length > 0 ? ofObjects : arrays.filter(({ items }) => items.length === 0);
  const depth = (path: string) => (path === '' ? 0 : path.split('.').length);
  const least = Math.min(...candidates.map(({ path }) => depth(path)));
  const paths = candidates.filter(({ path }) => depth(path) === least).map(({ path }) => path);
  return byName(paths, ITEM_NAMES) ?? paths[0] ?? null;
}

/** @returns null if the answer is no such page. */
export function readPage(answer: SampleAnswer, itemsPath: string): SamplePage | null {
  if (!isSuccess(answer)) return null;
  const value = jsonOf(answer);
  if (value === undefined || !Array.isArray(valueAt(value, itemsPath))) return null;
  return { items: samplesAt(answer.text, itemsPath), value, link: answer.link };
}

/** Returns the items of an answer, wherever they are; null if there is no list in it. */
export function itemsIn(answer: SampleAnswer): Sample[] | null {
  const path = itemsPathOf(jsonOf(answer));
  return path === null ? null : (readPage(answer, path)?.items ?? null);
}

/** Returns the target of the link with the relation "next" (RFC 8288 section 3). */
export function nextLinkOf(header: string | null): string | null {
  for (const [, target, parameters] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[^,;="]+(?:="[^"]*"|=[^,;]*)?)*)/g))
    if (/;\s*rel\s*=\s*"?(?:[^"]*\s)?next(?:\s[^"]*)?"?\s*(?:;|$)/i.test(parameters ?? '')) return target ?? null;
  return null;
}

/** Returns the request for the page after this one; null if there is none. */
export function nextQuestion(
  list: Pick<List, 'path' | 'paging'>,
  query: Record<string, string>,
  page: SamplePage,
  before: { items: number; pages: number },
): SampleRequest | null {
  const { paging, path } = list;
  if (paging.style === 'single' || page.items.length === 0) return null;
  if (paging.style === 'offset')
    return { url: path, query: { ...query, [paging.parameter]: String(before.items + page.items.length) } };
  if (paging.style === 'page')
    return { url: path, query: { ...query, [paging.parameter]: String(paging.first + before.pages + 1) } };
  const next = paging.next === null ? nextLinkOf(page.link) : valueAt(page.value, paging.next);
  if (typeof next !== 'string' || next === '') return null;
  return paging.style === 'link'
    ? { url: next, from: path }
    : { url: path, query: { ...query, [paging.parameter]: next } };
}

/** Reads the items of a list page by page until there are enough. */
export async function readItems(ask: Ask, list: List, filter: Record<string, string>, enough: number): Promise<Pages> {
  const size = Math.min(list.limit?.size ?? enough, enough);
  const query = { ...filter, ...(list.limit === null ? {} : { [list.limit.parameter]: String(size) }) };
  const items: Sample[] = [];
  let last: SamplePage | null = null;
  let question: SampleRequest | null = { url: list.path, query };
  for (let pages = 0; question !== null; pages++) {
    if (items.length >= enough) return { items, isWhole: false, last: null };
    const page = readPage(await ask(question), list.items);
    // Some services refuse the page after the last one.
    if (page === null) return { items, isWhole: pages > 0 && isCounted(list.paging), last: null };
    if (overlap(items, page.items)) return { items, isWhole: false, last: null };
    question = nextQuestion(list, query, page, { items: items.length, pages });
    items.push(...page.items);
    last = page;
  }
  return { items, isWhole: true, last };
}

function isCounted({ style }: Paging): boolean {
  return style === 'offset' || style === 'page';
}

/** Reports whether the lists share an item. */
export function overlap(one: readonly Sample[], other: readonly Sample[]): boolean {
  const texts = new Set(one.map((item) => item.text()));
  return other.some((item) => texts.has(item.text()));
}

/** Reports whether both lists have the same items in the same order. */
export function sameItems(one: readonly Sample[], other: readonly Sample[]): boolean {
  return one.length === other.length && one.every((item, index) => item.text() === other[index]?.text());
}
