import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Service } from '../service.ts';
import { busyPlatform } from './every-service.ts';
import { type Visitor, visitorsOf } from './visitor.ts';

/** A page with its path. */
interface SeenPage {
  path: string;
  /** Markup from `<main` on. */
  main: string;
}

/** Pages of a person's own account, which the API does not cover. */
const OWN = /^\/app\/(?:account|password|second-factor|passkeys|prove|$)/;
/** Pages that show more than links from other pages lead to. */
const ASKED = ['/app/traps?status=archived', '/app/endpoints/events?path=nobody', '/app/agents?q=nobody'];

let service: Service;
let pages: SeenPage[];
beforeAll(async () => {
  service = await busyPlatform();
  const { owner } = await visitorsOf(service, ['owner']);
  await owner.submit('/app/prove', '/app/prove', { password: 'a long walk by the sea' });
  pages = await pagesOf(owner);
});
afterAll(() => service.close());

/** Follows links, and returns one page of each kind. */
async function pagesOf(visitor: Visitor): Promise<SeenPage[]> {
  const waiting = ['/app/', ...ASKED];
  const seen = new Set<string>();
  const found: SeenPage[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path);
    if (seen.has(kind)) continue;
    seen.add(kind);
    const { status, text } = await visitor.get(path);
    expect([status, path]).toEqual([200, path]);
    found.push({ path, main: text.slice(text.indexOf('<main')) });
    for (const [, href = ''] of text.matchAll(/<a (?:class="[^"]*" )?href="(\/app[^"#]*)"(?! download)/g))
      waiting.push(href.replaceAll('&amp;', '&').replaceAll('&#39;', "'"));
  }
  return found;
}

/** Returns the kind of a page: its path without ids, and the names of its query parameters. */
function kindOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://platform');
  const words = pathname.replace(/\/(streams|keys)\/(?!new$)[^/]+/, '/$1/ID').replace(/\/[^/]*[\d%][^/]*/g, '/ID');
  return `${words} ${[...searchParams.keys()].toSorted().join(' ')}`;
}

/** Returns the pages with findings. */
function wrongIn(look: (page: SeenPage) => readonly unknown[]): unknown[] {
  return pages.map((page) => [page.path, ...look(page)]).filter(([, ...wrong]) => wrong.length > 0);
}

const tablesIn = ({ main }: SeenPage) => main.match(/<table class="data">.*?<\/table>/gs) ?? [];
const textOf = (html: string) => html.replace(/<[^>]*>/g, '');
/** Returns the text, without texts to copy and texts from outside. */
const ownText = ({ main }: SeenPage) =>
  textOf(main.replace(/<(pre|code|bdi|time|script)\b.*?<\/\1>/gs, '').replace(/<option.*?<\/option>/gs, ''));

test('all services are looked at', () => {
  for (const service of ['audit', 'traps', 'endpoints', 'agents', 'alerts', 'keys', 'people', 'administration'])
    expect(pages.filter(({ path }) => path.startsWith(`/app/${service}`)).length, service).toBeGreaterThan(0);
  expect(pages.length).toBeGreaterThan(90);
});

test('each page has one title', () => {
  expect(wrongIn(({ main }) => ((main.match(/<h1>/g) ?? []).length === 1 ? [] : ['titles']))).toEqual([]);
});

/** Returns the rank of a cell's column by its markup; null for an empty cell. */
function rankOf(cell: string): number | null {
  if (cell.startsWith('<th')) return 0;
  if (/^<td[^>]* class="act"/.test(cell)) return 5;
  if (/^<td[^>]*><code class="digest"/.test(cell)) return 4;
  if (/^<td[^>]* class="number"/.test(cell)) return 3;
  if (/^<td[^>]*><time/.test(cell)) return 2;
  return /^<td[^>]*><span class="minor">[^<]*<\/span><\/td>$/.test(cell) ? null : 1;
}

test('each table says what it is, and its rows begin with their name and go on with words, times, numbers, digests, acts', () => {
  const wrong = wrongIn((page) =>
    tablesIn(page).flatMap((table) => {
      const [caption = ''] = table.match(/<caption.*?<\/caption>/s) ?? [];
      const rows = table.slice(table.indexOf('<tbody>')).match(/<tr>.*?<\/tr>/gs) ?? [];
      const cells = rows.map((row) => row.match(/<t[hd][ >].*?<\/t[hd]>/gs) ?? []);
      const columns = (cells[0] ?? []).map((_, at) => cells.map((row) => rankOf(row[at] ?? '')));
      const ranks = columns.flatMap((column) => column.find((rank) => rank !== null) ?? []);
      const isRight = textOf(caption) !== '' && ranks.every((rank, at) => at === 0 || rank >= (ranks[at - 1] ?? 0));
      return isRight && cells.every(([first]) => first?.startsWith('<th scope="row">')) ? [] : [textOf(caption), ranks];
    }),
  );
  expect(wrong).toEqual([]);
});

test('how a thing stands is its status, everywhere', () => {
  expect(wrongIn(({ main }) => main.match(/<(th|dt|label)\b[^>]*>State</g) ?? [])).toEqual([]);
});

test('each time is one that programs can read, too, and says its zone', () => {
  expect(wrongIn((page) => ownText(page).match(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?!(?::\d\d)? UTC)/g) ?? [])).toEqual([]);
  expect(
    wrongIn(({ main }) =>
      (main.match(/<time\b.*?<\/time>/gs) ?? []).filter((time) => !/^<time datetime="[^"]*Z">.*UTC/s.test(time)),
    ),
  ).toEqual([]);
});

test('each filter stands above its list, and one link clears all that was asked for', () => {
  const wrong = wrongIn((page) => {
    const at = page.main.indexOf('<form method="get"');
    if (at < 0) return [];
    const table = page.main.indexOf('<table');
    const { searchParams } = new URL(page.path, 'http://platform');
    const asked = [...searchParams.keys()].some((key) => key !== 'cursor' && key !== 'before');
    const isCleared = page.main.includes('Show all');
    return [
      ...(page.main.split('<form method="get"').length === 2 ? [] : ['several']),
      ...(table >= 0 && table < at ? ['below its list'] : []),
      ...(asked === isCleared ? [] : ['cleared']),
    ];
  });
  expect(wrong).toEqual([]);
});

test('where a list goes on, it can be begun again', () => {
  const later = pages.filter(({ path }) => /[?&](cursor|before)=/.test(path));
  expect(later.length).toBeGreaterThan(8);
  for (const { path, main } of later) expect(/rel="first"/.test(main), path).toBe(true);
});

test('each page of a service has what it shows or does as a call of the API', () => {
  expect(wrongIn(({ path, main }) => (OWN.test(path) || main.includes('Copy as curl') ? [] : ['no call']))).toEqual([]);
});

test('what cannot be undone is a button of its own look, with a way back beside it', () => {
  const wrong = wrongIn(({ main }) =>
    main.includes('<button class="final"') && !main.includes('>Cancel</a>') ? ['no way back'] : [],
  );
  expect(wrong).toEqual([]);
});
