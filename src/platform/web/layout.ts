import { type Markup, type MarkupContent, markup, name } from '../../core/html/markup.ts';
import type { Scope } from '../scopes.ts';
import type { SignedIn } from './access.ts';
import type { Assets } from './assets.ts';
import { CSRF_FIELD } from './csrf.ts';
import type { ApiCall } from './curl.ts';
import { FRONT, PAGES } from './own-path.ts';

/** Content of a page, without the common frame. */
export interface PageView {
  /** Heading, which is also in the window's title. */
  title: string;
  content: MarkupContent;
  /** Purpose of the page, below the heading. */
  introduction?: MarkupContent;
  /** Breadcrumbs, outermost page first. */
  above?: readonly { title: string; path: string }[];
  /** True for forms in one narrow column. */
  isNarrow?: boolean;
  /** Equivalent call of the API, shown below the content. */
  api?: ApiCall;
  /** Status; 200 by default. */
  status?: number;
}

/** Page in the navigation. */
export interface NavItem {
  title: string;
  path: string;
  /** Scope with which people see the page in the navigation. */
  scope: Scope;
}

/** Frame around a page, for its reader. */
export interface FrameParts {
  nav: readonly NavItem[];
  assets: Assets;
  person: SignedIn | null;
  /** Path of the page without its query. */
  path: string;
  /** Notice left by the previous page. */
  notice: string | null;
}

const PRODUCT = 'Evidence platform';

export function layout(view: PageView, parts: FrameParts): Markup {
  const { assets } = parts;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${view.title} · ${PRODUCT}</title>
<link rel="icon" type="image/svg+xml" href="${assets.urlOf('icon.svg')}">
<link rel="stylesheet" href="${assets.urlOf('platform.css')}">
<script src="${assets.urlOf('platform.js')}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
${header(parts)}
<main id="main" tabindex="-1"${view.isNarrow === true ? markup` class="narrow"` : null}>
${way(view)}<h1>${name(view.title)}</h1>
${view.introduction === undefined ? null : markup`<p class="introduction">${view.introduction}</p>\n`}${
  parts.notice === null ? null : markup`<p class="notice" role="status">${parts.notice}</p>\n`
}${view.content}
</main>
</body>
</html>
`;
}

function header({ nav, person, path }: FrameParts): Markup {
  const brand = markup`<a class="brand" href="${FRONT}">${PRODUCT}</a>`;
  if (person === null) return markup`<header class="bar">${brand}</header>`;
  const items = [{ title: 'Overview', path: FRONT }, ...nav.filter(({ scope }) => person.scopes.includes(scope))];
  return markup`<header class="bar">${brand}
<nav aria-label="Platform"><ul>
${items.map((item) => markup`<li><a href="${item.path}"${isAt(item.path, path) ? markup` aria-current="page"` : null}>${item.title}</a></li>\n`)}</ul></nav>
<div class="person"><a href="${PAGES}/account"${isAt(`${PAGES}/account`, path) ? markup` aria-current="page"` : null}>${name(person.name)}</a> <span class="minor">${person.role}</span>
<form method="post" action="${PAGES}/sign-out"><input type="hidden" name="${CSRF_FIELD}" value="${person.csrf}"><button class="quiet">Sign out</button></form></div>
</header>`;
}

function way({ above = [] }: PageView): Markup | null {
  if (above.length === 0) return null;
  return markup`<nav class="way" aria-label="Breadcrumbs"><ol>
${above.map(({ title, path }) => markup`<li><a href="${path}">${name(title)}</a></li>\n`)}</ol></nav>
`;
}

/** Reports whether a page is the target of an item, or below it. */
function isAt(item: string, path: string): boolean {
  if (item === FRONT) return path === FRONT || path === PAGES;
  const folder = item.replace(/\/$/, '');
  return path === folder || path.startsWith(`${folder}/`);
}
