import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entry, type Service, startService } from '../service.ts';
import { type Visitor, visitorsOf } from './visitor.ts';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LONG = `${'a-name-of-many-characters/'.repeat(12)}${'w'.repeat(300)}`;

let service: Service;
let owner: Visitor;
let browser: Browser;
/** By a word on each of them. */
const pages: Record<string, string> = {};

beforeAll(async () => {
  if (!existsSync(CHROMIUM))
    throw new Error(`there is no ${CHROMIUM}: apt-get install chromium, or name another one in CHROMIUM`);
  service = await startService();
  ({ owner } = await visitorsOf(service, ['owner']));
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  for (const stream of ['payments', LONG, 'damaged'])
    await service.call('POST', '/entries/batch', {
      entries: Array.from({ length: 30 }, (_, at) => ({
        ...entry(stream, at),
        resource_id: at % 2 ? LONG : `r-${at}`,
      })),
    });
  await service.call('POST', '/streams/payments/verify');
  await service.call('POST', '/streams/payments/checkpoints');
  service.sql(
    "DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'mallory' WHERE sequence = 4 AND stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'damaged')",
  );
  const failed = await service.call('POST', '/streams/damaged/verify');
  const made = await service.call('POST', '/evidence/generate', { stream_id: 'payments' });
  const stream = '/app/audit/streams/payments';
  Object.assign(pages, {
    front: '/app/',
    streams: '/app/audit',
    stream,
    'stream of a long name': `/app/audit/streams/${encodeURIComponent(LONG)}`,
    entries: `${stream}/entries`,
    'entries that match': `${stream}/entries?actor=nobody`,
    entry: `${stream}/entries/2`,
    checks: `${stream}/verifications`,
    'failed check': `/app/audit/verifications/${failed.body.verification_id}`,
    checkpoints: `${stream}/checkpoints`,
    packages: `${stream}/packages`,
    package: `/app/audit/packages/${made.body.package_id}`,
    'new package': `${stream}/packages/new`,
    statistics: '/app/audit/statistics',
    nothing: '/app/audit/nothing',
  });
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

const NAMES = [
  'front',
  'streams',
  'stream',
  'stream of a long name',
  'entries',
  'entries that match',
  'entry',
  'checks',
];
const OTHERS = ['failed check', 'checkpoints', 'packages', 'package', 'new package', 'statistics', 'nothing'];

describe.each([
  ['light', 1200],
  ['light', 390],
  ['dark', 1200],
  ['dark', 390],
] as const)('%s, on a screen of %d', (colorScheme, width) => {
  test.each([...NAMES, ...OTHERS])('the page %s is readable, in order, and no wider', async (name) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
    const complaints: string[] = [];
    try {
      await context.addCookies([{ name: 'evidence_session', value: owner.session, url: `${service.origin}/app` }]);
      const page = await context.newPage();
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(service.origin + (pages[name] ?? ''));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await page.evaluate(AXE);
      const { violations } = (await page.evaluate('axe.run(document)')) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      expect(violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)])).toEqual([]);
      // What is not there is complained of by the browser itself.
      expect(complaints.filter((each) => !each.includes('404'))).toEqual([]);
    } finally {
      await context.close();
    }
  });
});
