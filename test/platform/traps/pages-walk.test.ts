import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../support/ports.ts';
import { type Service, startService } from '../service.ts';
import { fill, follow, lookAt, PagesBrowser, press, WALKS } from '../web/pages-browser.ts';
import { visitorsOf } from '../web/visitor.ts';

const LONG = `${'a label of many words '.repeat(7)}${'w'.repeat(46)}`;

/**
 * Walk through the pages of traps. Each test continues where the preceding one ended; pages.test.ts submits the same
 * forms without scripts.
 */
describe.each(WALKS)('%s', (_how, javaScriptEnabled) => {
  let service: Service;
  let browser: PagesBrowser;
  let page: Page;
  let url: string;
  /** Port of a webhook receiver that is down. */
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    service = await startService({ outgoingHosts: [`127.0.0.1:${port}`] });
    const { operator } = await visitorsOf(service, ['operator']);
    browser = await PagesBrowser.launch(service.origin);
    page = await browser.openAs(operator, '/app/', { javaScriptEnabled });
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
    expect(browser.complaints).toEqual([]);
  });

  const titleOf = () => page.locator('h1').textContent();
  const rows = () => page.locator('tbody tr').allTextContents();

  test('before there is a trap, the front page says what to do', async () => {
    await lookAt(page);
    await follow(page, 'Create and plant a trap');
    expect(await titleOf()).toBe('Traps');
    await lookAt(page);
    await follow(page, 'All traps');
    await lookAt(page);
  });

  test('a trap is made by a form, and shown once with its instructions', async () => {
    await follow(page, 'Create a trap');
    await follow(page, 'Import an AWS key');
    await lookAt(page);
    await page.goBack();
    await fill(page, { label: ' ' });
    await press(page, 'Create');
    expect(await page.locator('#label-error').textContent()).toContain('Enter a label.');
    await lookAt(page);
    await fill(page, { label: 'Salaries of the board' });
    await page.selectOption('[name=plant_location]', 'wiki');
    await press(page, 'Create');
    expect(await titleOf()).toBe('The new trap');
    expect(await page.locator('main').textContent()).toContain('Put the line into a page or a document');
    url = /src="([^"]+)"/.exec((await page.locator('#artifact').textContent()) ?? '')?.[1] ?? '';
    await lookAt(page);
  });

  test('it is confirmed and tested, and says how well it hides', async () => {
    await follow(page, 'Confirm that it is planted');
    await lookAt(page);
    await press(page, 'Confirm');
    expect(await page.locator('[role=status]').textContent()).toBe('Salaries of the board is planted.');
    await lookAt(page);
    const realism = page.locator('table', { hasText: 'Checks of what could reveal the trap' });
    const own = realism.locator('tr', { hasText: 'Separate host' });
    expect(await own.textContent()).toContain('Configure a decoy with a separate host');
    await follow(page, 'Test');
    await lookAt(page);
    await press(page, 'Test it');
    expect(await titleOf()).toBe('All channels detected it');
    await lookAt(page);
    await follow(page, 'Back to the trap');
    expect(await realism.locator('tr', { hasText: 'Proved channels' }).textContent()).toContain('passed');
  });

  test('a use appears by itself where scripts run, is said aloud, and keeps the place of who reads', async () => {
    await page.goto('/app/traps');
    expect(await rows()).toEqual([]);
    await page.locator('#live a').first().focus();
    const held = await page.evaluate('document.activeElement.getAttribute("href")');
    await fetch(url, { headers: { 'user-agent': 'Word/16 <b>' } });
    if (javaScriptEnabled) {
      await expect.poll(rows).toHaveLength(1);
      expect(await page.locator('#live-said').textContent()).toBe('1 detection open.');
      expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(held);
      expect(await page.locator('#live-note').textContent()).toBe('This page updates automatically.');
    } else {
      expect(await page.locator('#live-note').textContent()).toContain('Reload the page');
      await page.reload();
    }
    expect(await rows()).toEqual([expect.stringMatching(/Salaries of the board .*medium.*opened.*Word\/16 <b>/s)]);
    await lookAt(page);
  });

  test('it is acknowledged, with what is known of it', async () => {
    await follow(page, 'Salaries of the board');
    await lookAt(page);
    await press(page, 'Acknowledge');
    expect(await page.locator('[role=status]').textContent()).toBe('The detection is now acknowledged.');
    expect(await page.locator('main').textContent()).toContain('acknowledged by The operator');
    await follow(page, 'entry 4 of the stream traps');
    expect(await titleOf()).toBe('Entry 4');
    await page.goto('/app/traps');
    expect(await page.locator('#live').textContent()).toContain('No open detections.');
    await page.goto('/app/');
    expect(await page.locator('.tile', { hasText: 'Traps' }).textContent()).toContain('No open detections');
    await lookAt(page);
  });

  test('names of any length stay where they are, and a trap is revoked', async () => {
    const input = { credential_type: 'web_bug', plant_location: 'other', label: LONG };
    const { body } = await service.call('POST', '//traps/api/v1/credentials/generate', input);
    for (let count = 0; count < 22; count++) await fetch(body.credential.url, { headers: { 'user-agent': LONG } });
    await page.goto('/app/traps');
    await lookAt(page);
    await follow(page, LONG);
    await lookAt(page);
    await page.goto(`/app/traps/credentials/${body.credential_id}`);
    await lookAt(page);
    await follow(page, 'Reset');
    await lookAt(page);
    await press(page, 'Reset');
    await follow(page, 'Rotate');
    await lookAt(page);
    await page.goBack();
    await follow(page, 'Revoke');
    await press(page, 'Revoke it');
    expect(await page.locator('.facts').textContent()).toContain('revoked');
    await page.goto('/app/traps/credentials');
    await lookAt(page);
  });

  test('a webhook is added with its secret, tested and removed', async () => {
    await page.goto('/app/alerts');
    await lookAt(page);
    await follow(page, 'Add a channel');
    await lookAt(page);
    await fill(page, { name: LONG });
    await fill(page, { target: `https://example.com/${'x'.repeat(300)}` });
    await page.getByLabel('Traps').check();
    await press(page, 'Add it');
    expect(await page.locator('#secret').textContent()).toMatch(/^whsec_/);
    await lookAt(page);
    await follow(page, 'I have saved it');
    await lookAt(page);
    await follow(page, 'Test');
    await lookAt(page);
    await press(page, 'Send it');
    await follow(page, 'Remove');
    await lookAt(page);
    await press(page, 'Remove it');
    expect(await rows()).toEqual([]);
  });

  test('an alert that nobody took is listed, and reaches its receiver once when it is tried again', async () => {
    const target = `http://127.0.0.1:${port}/hook`;
    const channel = { kind: 'webhook', name: 'On call', target };
    const { body: added } = await service.call('POST', '//alerts/channels/', channel);
    const input = { credential_type: 'web_bug', plant_location: 'other', label: 'told late' };
    const { body: trap } = await service.call('POST', '//traps/api/v1/credentials/generate', input);
    await fetch(trap.credential.url);
    const newest = 'message_no = (SELECT max(message_no) FROM outbox)';
    const outbox = () => service.sql(`SELECT attempts, status, message_id FROM outbox WHERE ${newest}`);
    await expect.poll(outbox, { timeout: 20_000 }).toMatch(/^[1-9]/);
    // The pauses between attempts are over.
    await service.sql(`UPDATE outbox SET attempts = 11, due_at = created_at WHERE ${newest}`);
    await expect.poll(outbox, { timeout: 20_000 }).toMatch(/^12\|dead/);
    await page.goto('/app/alerts');
    await follow(page, 'undeliverable messages');
    expect((await rows())[0]).toMatch(/traps\/alert.*12.*ECONNREFUSED/s);
    await lookAt(page);
    const receiver = await receiveAt(port);
    try {
      await follow(page, 'Try again');
      await press(page, 'Try again');
      expect(await page.locator('[role=status]').textContent()).toBe('The message is queued again.');
      await expect.poll(outbox, { timeout: 20_000 }).toMatch(/^1\|delivered/);
      const [{ headers, body }] = receiver.received as [Received];
      expect(new Webhook(added.secret).verify(body, headers)).toMatchObject({ type: 'trap.used' });
      expect(await outbox()).toBe(`1|delivered|${headers['webhook-id']}\n`);
      expect(receiver.received).toHaveLength(1);
    } finally {
      await receiver.close();
    }
  });
});

interface Received {
  headers: Record<string, string>;
  body: string;
}

/** Starts to receive webhooks. */
async function receiveAt(port: number) {
  const received: Received[] = [];
  const server: Server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    received.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(204).end();
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return { received, close: () => new Promise((done) => server.close(done)) };
}
