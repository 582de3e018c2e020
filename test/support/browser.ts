import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { renderHtml } from '../../src/exporter/report/html/document.ts';
import { readParts } from '../../src/exporter/report/reports.ts';
import { readTexts } from '../../src/exporter/report/texts.ts';
import type { RunRecord } from '../../src/verifier/records/record.ts';
import { useChromium } from './chromium.ts';
import { joined } from './pieces.ts';
import { toRunView } from './run-view.ts';

/** A browser for reports on disk, which records requests and problems. */
export class ReportBrowser {
  readonly folder = mkdtempSync(join(tmpdir(), 'browser-'));
  /** Requests other than for the page and its workers, and console messages. */
  readonly complaints: string[] = [];
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<ReportBrowser> {
    return new ReportBrowser(await useChromium());
  }

  async close(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
    rmSync(this.folder, { recursive: true });
  }

  /** Opens a report offline, because its file must be self-contained. */
  async open(record: RunRecord, options: BrowserContextOptions = {}): Promise<Page> {
    const texts = readTexts();
    const file = join(this.folder, `report-${this.#contexts.length}.html`);
    writeFileSync(file, joined(renderHtml(toRunView(record, true, texts), texts, await readParts())));
    const context = await this.#browser.newContext({ offline: true, ...options });
    this.#contexts.push(context);
    const page = await context.newPage();
    const own = `file://${file}`;
    page.on('request', (request) => {
      if (request.url() !== own && !request.url().startsWith('blob:')) this.complaints.push(request.url());
    });
    page.on('console', (message) => this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    await page.goto(own);
    return page;
  }
}
