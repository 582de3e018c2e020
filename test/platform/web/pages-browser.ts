import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { useChromium } from '../../support/chromium.ts';
import { someRows } from '../../support/some-rows.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Script that each page loads once, because sending axe for every check would take longer. */
const LOAD_AXE = `globalThis.loadAxe = function () {${AXE}\n}`;

/** Ways to walk through pages; other tests submit the same forms over HTTP without scripts. */
export const WALKS = someRows(
  [
    ['with scripts', true],
    ['without scripts', false],
  ] as const,
  () => 'a walk',
);

/**
 * Color schemes and widths. axe finds little that depends on the width, and content that fits the narrowest screen fits
 * all.
 */
const LOOKS = someRows(
  (['light', 'dark'] as const).flatMap((colorScheme) => [320, 390, 1200].map((width) => ({ colorScheme, width }))),
  ({ colorScheme }) => colorScheme,
);
/** Options that omit passed checks, which take as long to describe as violations. Dark pages differ only in color. */
const WANTED = { resultTypes: ['violations'], preload: false };
const RULES = {
  light: WANTED,
  dark: { ...WANTED, runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } },
};

/** A browser that opens pages of a platform and records problems. */
export class PagesBrowser {
  /** Requests to other origins, console messages, and violations of a policy. */
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

  /** Opens a page as a signed-in person with a separate browser. */
  openAs({ session }: { session: string }, path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const cookie = { name: 'evidence_session', value: session, domain: '127.0.0.1', path: '/app' };
    const kept = { ...cookie, expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' as const };
    return this.open(path, { ...options, storageState: { cookies: [kept], origins: [] } });
  }

  /** Opens a page in a separate browser. */
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
      // Tests that expect a refusal check it themselves.
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
 * Fills fields by name. A field that gets the focus from the page comes first, because Chromium complains if another
 * field has it.
 */
export async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  if ((await page.locator('[autofocus]').count()) > 0) await page.locator(':focus').first().waitFor();
  for (const [name, value] of Object.entries(fields)) await page.locator(`[name="${name}"]`).fill(value);
}

/** Presses the button with this name in the page's main part. */
export function press(page: Page, name: string): Promise<void> {
  return page.locator('main').getByRole('button', { name, exact: true }).click();
}

/** Follows the first link with this name in the page's main part. */
export function follow(page: Page, name: string): Promise<void> {
  return page.locator('main').getByRole('link', { name, exact: true }).first().click();
}

/** Checks a page in light and dark, wide and narrow: axe finds nothing, and nothing is wider than the screen. */
export async function lookAt(page: Page): Promise<void> {
  await page.waitForLoadState();
  const hasScripts = await page.evaluate('matchMedia("(scripting: enabled)").matches');
  if (hasScripts) await page.evaluate('loadAxe()');
  for (const { colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const where = `${page.url()} ${colorScheme} ${width}`;
    expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(width);
    // axe needs the page's clock, which stands still without scripts.
    if (!hasScripts) continue;
    const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(RULES[colorScheme])})`)) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    const found = violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]);
    expect(found, where).toEqual([]);
  }
}
