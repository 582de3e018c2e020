import { agree, plural } from '../../core/plurals.ts';
import type { List, Paging } from '../../verifier/profile/list-description.ts';
import { valueAt } from '../../verifier/profile/path.ts';
import type { Described } from '../openapi.ts';
import { lastName, namesIn, nameWords } from '../sample/names.ts';
import { type Ask, jsonOf, type SampleAnswer, scalarAt, scalarPaths } from '../sample/sample.ts';
import { itemsPathOf, nextLinkOf, nextQuestion, overlap, readPage, type SamplePage, sameItems } from './paging.ts';

/** Form of a list, and how it was found. */
export interface ListForm {
  items: string;
  limit: { parameter: string; size: number } | null;
  /** Paging of the list; null if the list is too short to tell. */
  paging: Paging | null;
  how: string;
}

const LIMITS = namesIn('limit page_size pageSize per_page perPage size count maxResults max_results first top');
const OFFSETS = ['skip', 'offset', 'start', 'from_index', 'startIndex', 'start_index'];
const PAGE_NUMBERS = ['page', 'page_number', 'pageNumber', 'p'];
const CURSORS = namesIn(`
  cursor page_token pageToken token after continuation continuation_token continuationToken next_token nextToken
  next_cursor nextCursor next marker starting_after startingAfter
`);
const SIZES = [500, 200, 100, 50, 20];

/** List under test: its address, the query besides paging, and its description by OpenAPI. */
export interface Trial {
  ask: Ask;
  path: string;
  filter: Record<string, string>;
  documented: readonly Described[];
  items: string;
}

/** Infers the form of a list. Returns null if the answer is no list. @param first answer to the filter alone. */
export async function inferList(
  ask: Ask,
  path: string,
  filter: Record<string, string>,
  documented: readonly Described[],
  first: SampleAnswer,
): Promise<ListForm | null> {
  const items = itemsPathOf(jsonOf(first));
  const page = items === null ? null : readPage(first, items);
  if (items === null || page === null) return null;
  const trial: Trial = { ask, path, filter, documented, items };
  const parameter = await inferLimit(trial, page);
  const small = parameter === null ? {} : { [parameter]: String(smallSize(page)) };
  const short = parameter === null ? page : await pageOf(trial, small);
  if (short === null || page.items.length < 2) {
    const limit = parameter === null ? null : { parameter, size: documentedMaximum(trial, parameter) };
    return { items, limit, paging: null, how: 'too short to show its paging' };
  }
  const paging = await inferPaging({ ...trial, filter: { ...filter, ...small } }, short);
  const style = paging ?? ({ style: 'single' } as const);
  const limit = parameter === null ? null : { parameter, size: await inferSize(trial, parameter, style) };
  return { items, limit, paging: style, how: howPaged(paging, page) };
}

function howPaged(paging: Paging | null, page: SamplePage): string {
  if (paging === null)
    return `no further page was found: its ${plural(page.items.length, 'item')} ${agree(page.items.length, 'is', 'are')} assumed to be complete`;
  return 'a second page was read with it and shares no item with the first';
}

function smallSize(page: SamplePage): number {
  return Math.max(1, Math.min(2, page.items.length - 1));
}

async function pageOf({ ask, path, filter, items }: Trial, query: Record<string, string>): Promise<SamplePage | null> {
  return readPage(await ask({ url: path, query: { ...filter, ...query } }), items);
}

/** Orders names for trying, documented names first. */
function inOrder(names: readonly string[], documented: readonly Described[]): string[] {
  const known = new Set(documented.map(({ name }) => name));
  return names.toSorted((a, b) => Number(known.has(b)) - Number(known.has(a)));
}

/** Finds the parameter that limits a page: a request for two items returns the first two. */
async function inferLimit(trial: Trial, first: SamplePage): Promise<string | null> {
  const size = smallSize(first);
  if (first.items.length < 2) return LIMITS.find((name) => trial.documented.some((one) => one.name === name)) ?? null;
  for (const name of inOrder(LIMITS, trial.documented)) {
    const page = await pageOf(trial, { [name]: String(size) });
    if (page !== null && sameItems(page.items, first.items.slice(0, size))) return name;
  }
  return null;
}

function documentedMaximum({ documented }: Trial, parameter: string): number {
  return Math.min(documented.find(({ name }) => name === parameter)?.maximum ?? 100, 500);
}

/** Finds the largest page size that the service accepts. If it silently shortens pages, returns the returned size. */
async function inferSize(trial: Trial, parameter: string, paging: Paging): Promise<number> {
  const maximum = trial.documented.find(({ name }) => name === parameter)?.maximum;
  if (typeof maximum === 'number') return Math.min(maximum, 500);
  for (const size of SIZES) {
    const query = { ...trial.filter, [parameter]: String(size) };
    const page = await pageOf(trial, query);
    if (page === null || page.items.length === 0) continue;
    if (page.items.length >= size) return size;
    const next = nextQuestion({ path: trial.path, paging }, query, page, { items: 0, pages: 0 });
    const after = next === null ? null : readPage(await trial.ask(next), trial.items);
    if (after === null || after.items.length === 0) return size;
    // The next numbered page after a shortened page would begin where the requested page ends.
    return page.items.length;
  }
  return 20;
}

/** @param short page that is followed by another, if the list has pages at all. */
async function inferPaging(trial: Trial, short: SamplePage): Promise<Paging | null> {
  const again = await pageOf(trial, {});
  // A list that changes between two reads cannot show that two pages differ.
  if (again === null || !sameItems(again.items, short.items)) return null;
  return (await inferLink(trial, short)) ?? (await inferCursor(trial, short)) ?? (await inferCounted(trial, short));
}

function isNextPage(page: SamplePage | null, first: SamplePage): boolean {
  return page !== null && page.items.length > 0 && !overlap(page.items, first.items);
}

async function inferLink({ ask, path: from, items }: Trial, short: SamplePage): Promise<Paging | null> {
  const inBody = textsOutside(short, items).filter(({ text }) => /^(?:https?:\/\/|\/|\?)/.test(text));
  const inHeader = nextLinkOf(short.link);
  const targets = [...inBody, ...(inHeader === null ? [] : [{ path: null, text: inHeader }])];
  for (const { path, text } of targets)
    if (isNextPage(readPage(await ask({ url: text, from }), items), short))
      return { style: 'link', next: path, absent_at_end: true };
  return null;
}

async function inferCursor(trial: Trial, short: SamplePage): Promise<Paging | null> {
  for (const { path, text } of textsOutside(short, trial.items))
    for (const parameter of inOrder(cursorNames(path), trial.documented))
      if (isNextPage(await pageOf(trial, { [parameter]: text }), short))
        return { style: 'cursor', next: path, absent_at_end: true, parameter };
  return null;
}

/** Returns candidate names for a cursor: the member's name, without "next", as a page token, and common names. */
function cursorNames(path: string): string[] {
  const words = nameWords(lastName(path));
  const bare = words.filter((word) => word !== 'next');
  const camel = (parts: string[]) =>
    parts.map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');
  const derived = [words, bare, ['page', ...bare]].flatMap((parts) => [camel(parts), parts.join('_')]);
  return [...new Set([lastName(path), ...derived, ...CURSORS])].filter((name) => name !== '');
}

/** Infers paging by number of items or pages, ignoring what answers state about the next page. */
export async function inferCounted(trial: Trial, short: SamplePage): Promise<Paging | null> {
  return (await inferOffset(trial, short)) ?? (await inferPageNumber(trial, short));
}

async function inferOffset(trial: Trial, short: SamplePage): Promise<Paging | null> {
  const offset = String(short.items.length);
  for (const parameter of inOrder(OFFSETS, trial.documented))
    if (isNextPage(await pageOf(trial, { [parameter]: offset }), short)) return { style: 'offset', parameter };
  return null;
}

async function inferPageNumber(trial: Trial, short: SamplePage): Promise<Paging | null> {
  for (const parameter of inOrder(PAGE_NUMBERS, trial.documented))
    for (const first of [1, 0]) {
      const [one, next] = [
        await pageOf(trial, { [parameter]: String(first) }),
        await pageOf(trial, { [parameter]: String(first + 1) }),
      ];
      if (one !== null && sameItems(one.items, short.items) && isNextPage(next, short))
        return { style: 'page', parameter, first };
    }
  return null;
}

/** Returns the texts of an answer outside its items. */
function textsOutside({ value }: SamplePage, items: string): { path: string; text: string }[] {
  return scalarPaths(value)
    .filter((path) => items === '' || !path.startsWith(`${items}.`))
    .flatMap((path) => {
      const text = scalarAt(value, path);
      return typeof text === 'string' && text !== '' ? [{ path, text }] : [];
    });
}

/**
 * Settles the paging of a list that is too short to tell. Assumes the paging of another list of the same service if the
 * list's members or parameters suggest it; otherwise a single page.
 */
export function pagingLike(
  own: ListForm,
  documented: readonly Described[],
  answer: SampleAnswer,
  other: ListForm | null,
): ListForm {
  if (own.paging !== null) return own;
  const value = jsonOf(answer);
  const paging = other?.paging ?? null;
  if (paging === null || other === null)
    return { ...own, paging: { style: 'single' }, how: `${own.how}: assumed to be complete` };
  const next = 'next' in paging ? paging.next : null;
  const shows = next !== null && valueAt(value, next) !== undefined;
  const sameShape = own.items === other.items;
  const says = 'parameter' in paging && documented.some(({ name }) => name === paging.parameter);
  if (!shows && !says && !sameShape)
    return { ...own, paging: { style: 'single' }, how: `${own.how}: assumed to be complete` };
  return { ...own, paging, limit: own.limit ?? other.limit, how: `${own.how}: assumed to page like the other list` };
}

/** Adds what the last page of a list showed: whether the member for the next page is absent there or marks the end. */
export function withEnd(list: List, last: SamplePage | null): List {
  const { paging } = list;
  if (last === null || !('next' in paging) || paging.next === null) return list;
  return { ...list, paging: { ...paging, absent_at_end: valueAt(last.value, paging.next) === undefined } };
}

export function toList(path: string, { items, limit, paging }: ListForm): List {
  return { path, items, paging: paging ?? { style: 'single' }, limit };
}
