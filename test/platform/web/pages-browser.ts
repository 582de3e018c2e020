import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { useChromium } from '../../support/chromium.ts';
import { someRows } from '../../support/some-rows.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Each page has it, and carries it out where it is looked at: sending it there each time would take longer. */
const LOAD_AXE = `globalThis.loadAxe = function () {${AXE}\n}`;

/** How people walk through pages; without scripts the same forms are sent by HTTP elsewhere. */
export const WALKS = someRows(
  [
    ['with scripts', true],
    ['without scripts', false],
  ] as const,
  () => 'a walk',
);

/** A width tells axe little that another one does not, and what fits into the narrowest fits into all. */
const LOOKS = someRows(
  (['light', 'dark'] as const).flatMap((colorScheme) => [320, 390, 1200].map((width) => ({ colorScheme, width }))),
  ({ colorScheme }) => colorScheme,
);
/** What is well takes as long to describe as what is not, and nobody reads it. In the dark only colours are others. */
const WANTED = { resultTypes: ['violations'], preload: false };
const RULES = {
  light: WANTED,
  dark: { ...WANTED, runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } },
};

/** A browser that looks at pages of a platform, and what it complained of. */
export class PagesBrowser {
  /** What was asked of anybody else, what the console says, and what a policy forbade. */
  readonly complaints: string[] = [];
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  readonly #origin: string;

  private constructor(browser: Browser, origin: string) {
    this.#browser = browser;
    this.#origin = origin;
  }

  static async launch(origin: string): Promise<PagesBrowser> {
    return new PagesBrowser(await useChromium(), origin);
  }

  /** Somebody who is signed in, with a browser of their own, at a page. */
  openAs({ session }: { session: string }, path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const cookie = { name: 'evidence_session', value: session, domain: '127.0.0.1', path: '/app' };
    const kept = { ...cookie, expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' as const };
    return this.open(path, { ...options, storageState: { cookies: [kept], origins: [] } });
  }

  /** Somebody with a browser of their own, at a page. */
  async open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ baseURL: this.#origin, reducedMotion: 'reduce', ...options });
    this.#contexts.push(context);
    context.setDefaultTimeout(60_000);
    await context.addInitScript(LOAD_AXE);
    const page = await context.newPage();
    page.on('request', (request) => {
      if (!request.url().startsWith(`${this.#origin}/`)) this.complaints.push(request.url());
    });
    page.on('console', (message) => {
      // That an answer was a refusal is looked at where it is expected.
      if (!/Failed to load resource: the server responded with a status of 4/.test(message.text()))
        this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    await page.goto(path);
    return page;
  }

  async close(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }
}

/**
 * Types into fields, by their names. What a page gives the focus to has it first: Chromium complains where somebody has
 * typed elsewhere by then.
 */
export async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  if ((await page.locator('[autofocus]').count()) > 0) await page.locator(':focus').first().waitFor();
  for (const [name, value] of Object.entries(fields)) await page.locator(`[name="${name}"]`).fill(value);
}

/** Presses the button of this name in the page's main part. */
export function press(page: Page, name: string): Promise<void> {
  return page.locator('main').getByRole('button', { name, exact: true }).click();
}

/** Follows the first link of this name in the page's main part. */
export function follow(page: Page, name: string): Promise<void> {
  return page.locator('main').getByRole('link', { name, exact: true }).first().click();
}

/** Looks at a page in light and dark, wide and narrow: axe finds nothing, and nothing is wider than the screen. */
export async function lookAt(page: Page): Promise<void> {
  await page.waitForLoadState();
  const hasScripts = await page.evaluate('matchMedia("(scripting: enabled)").matches');
  if (hasScripts) await page.evaluate('loadAxe()');
  for (const { colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const where = `${page.url()} ${colorScheme} ${width}`;
    expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(width);
    // It waits by the clock of the page, which stands still where no script may run.
    if (!hasScripts) continue;
    const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(RULES[colorScheme])})`)) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    const found = violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]);
    expect(found, where).toEqual([]);
  }
}
