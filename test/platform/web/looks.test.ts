import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { entry, type Service, startService } from '../service.ts';
import { lookAt, PagesBrowser } from './pages-browser.ts';
import { visitorsOf } from './visitor.ts';

const LONG = `${'a-name-of-many-characters/'.repeat(12)}${'w'.repeat(300)}`;
const STREAM = '/app/audit/streams/payments';

let service: Service;
let browser: PagesBrowser;
let page: Page;
/** Paths of records with ids. */
let made: Record<'failed check' | 'package', string>;

beforeAll(async () => {
  service = await startService();
  const { owner } = await visitorsOf(service, ['owner']);
  browser = await PagesBrowser.launch(service.origin);
  page = await browser.openAs(owner, '/app/');
  for (const stream of ['payments', LONG, 'damaged']) {
    const entries = Array.from({ length: 30 }, (_, at) => ({
      ...entry(stream, at),
      resource_id: at % 2 ? LONG : `${at}`,
    }));
    await service.call('POST', '/entries/batch', { entries });
  }
  await service.call('POST', '/streams/payments/verify');
  await service.call('POST', '/streams/payments/checkpoints');
  await service.sql(
    "DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'mallory' WHERE sequence = 4 AND stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'damaged')",
  );
  const failed = await service.call('POST', '/streams/damaged/verify');
  const generated = await service.call('POST', '/evidence/generate', { stream_id: 'payments' });
  made = {
    'failed check': `/app/audit/verifications/${failed.body.verification_id}`,
    package: `/app/audit/packages/${generated.body.package_id}`,
  };
});
afterAll(async () => {
  expect(browser.complaints).toEqual([]);
  await browser.close();
  await service.close();
});

test.each([
  ['front', '/app/'],
  ['streams', '/app/audit'],
  ['stream', STREAM],
  ['stream of a long name', `/app/audit/streams/${encodeURIComponent(LONG)}`],
  ['failed stream', '/app/audit/streams/damaged'],
  ['entries', `${STREAM}/entries`],
  ['entries that match', `${STREAM}/entries?actor=nobody`],
  ['entry', `${STREAM}/entries/2`],
  ['checks', `${STREAM}/verifications`],
  ['failed check', null],
  ['checkpoints', `${STREAM}/checkpoints`],
  ['packages', `${STREAM}/packages`],
  ['package', null],
  ['new package', `${STREAM}/packages/new`],
  ['statistics', '/app/audit/statistics'],
  ['nothing', '/app/audit/nothing'],
] as const)('the page %s can be read by everybody, and is no wider than a screen', async (name, path) => {
  await page.goto(path ?? made[name as keyof typeof made]);
  // The platform shows its own page, not the sign-in page.
  expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(1);
  await lookAt(page);
});
