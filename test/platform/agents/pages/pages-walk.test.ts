import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../service.ts';
import { fill, follow, lookAt, PagesBrowser, press, WALKS } from '../../web/pages-browser.ts';
import { visitorsOf } from '../../web/visitor.ts';
import { HttpAgent } from '../http-agent.ts';

const LONG = `${'an agent of many words '.repeat(6)}${'w'.repeat(50)}`;

/**
 * Walk through the pages of agents. Each test continues where the preceding one ended; pages.test.ts submits the same
 * forms without scripts.
 */
describe.each(WALKS)('%s', { timeout: 120_000 }, (_how, javaScriptEnabled) => {
  let service: Service;
  let browser: PagesBrowser;
  let page: Page;
  let agent: HttpAgent;
  beforeAll(async () => {
    service = await startService();
    const { operator } = await visitorsOf(service, ['operator']);
    browser = await PagesBrowser.launch(service.origin);
    page = await browser.openAs(operator, '/app/', { javaScriptEnabled });
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
    expect(browser.complaints).toEqual([]);
  });

  const textOf = (selector: string) => page.locator(selector).innerText();

  test('an agent is registered from the front page on, and onboarded: its keys are shown once', async () => {
    await follow(page, 'Register one');
    await fill(page, { name: LONG, model: 'a-model', version: 'new', allowed_tools: 'read_file' });
    await press(page, 'Register');
    expect(await textOf('#version-error')).toContain('Is not numbers separated by dots');
    await lookAt(page);
    await fill(page, { version: '1.0.0' });
    await press(page, 'Register');
    await follow(page, 'Onboard');
    await fill(page, { password: 'a long walk by the sea' });
    await page.locator('main button').first().click();
    await press(page, 'Onboard');
    await lookAt(page);
    const shown = async (id: string) => (await page.locator(`#${id}`).textContent()) ?? '';
    const keys = { ed25519: await shown('ed25519') };
    const [id = ''] = /[0-9a-f-]{36}/.exec(page.url()) ?? [];
    agent = new HttpAgent(service, id, {
      api_key: await shown('api_key'),
      quantum_identity: { private_keys_once: keys },
    });
    await follow(page, 'I have stored them');
    expect(await page.content()).not.toContain(keys.ed25519.split('\n')[1]);
  });

  test('what it does appears by itself where scripts run, with its decision', async () => {
    await follow(page, 'All actions');
    await lookAt(page);
    await agent.did();
    await agent.did({ tool_used: 't'.repeat(200), action_description: LONG });
    if (javaScriptEnabled) {
      await expect.poll(() => page.locator('#live tbody tr').count()).toBe(2);
      expect(await page.locator('#live-said').textContent()).toBe('The last action: violation.');
    } else {
      expect(await page.locator('#live-note').textContent()).toContain('Reload the page');
      await page.reload();
      expect(await page.locator('#live tbody tr').count()).toBe(2);
    }
    await lookAt(page);
    await page.locator('tbody a').first().click();
    expect(await textOf('.verdict')).toContain('The score went from 60 to 45.');
  });

  test('its score is a chart, and a table that says why', async () => {
    await page.goto(`/app/agents/of/${agent.id}/trust`);
    expect(await page.getByRole('img').getAttribute('aria-label')).toMatch(/in 3 steps: 50 at first, 45 at last/);
    expect(await page.locator('table').first().locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/tool outside its list.*−15.*60 → 45/s),
      expect.stringMatching(/onboarded.*\+10.*50 → 60/s),
      expect.stringMatching(/registered.*\+50.*0 → 50/s),
    ]);
    await lookAt(page);
    await follow(page, 'Simulate');
    await page.getByLabel('Rules, applied in order').check();
    await page.getByLabel('decoy used').check();
    await press(page, 'Simulate');
    expect(await textOf('.facts')).toContain('AUTO-SUSPENDED');
  });

  test('a decoy is planted in its vault, and taken out with a secret', async () => {
    await agent.send('PUT', '/vault/secrets/db-password', { value: 'x' });
    await page.goto(`/app/agents/of/${agent.id}`);
    await follow(page, 'Plant a decoy');
    await lookAt(page);
    await fill(page, { name: 'not a name!' });
    await press(page, 'Plant');
    await fill(page, { name: 'root-password' });
    await press(page, 'Plant');
    await lookAt(page);
    for (const _ of ['secret', 'decoy']) {
      await page.getByRole('link', { name: 'Remove' }).first().click();
      await lookAt(page);
      await press(page, 'Remove');
    }
    expect(await textOf('main')).not.toMatch(/db-password|root-password/);
  });

  test('who is told is nobody, until somebody is added', async () => {
    await page.goto('/app/agents/subscribers');
    await lookAt(page);
    await follow(page, 'Add a subscriber');
    await fill(page, { url: 'no address', audience: LONG });
    await press(page, 'Add');
    await lookAt(page);
    await fill(page, { url: 'http://127.0.0.1:9/' });
    await press(page, 'Add');
    await lookAt(page);
  });

  test('the kill switch says what it does not do, and its receipt has every step', async () => {
    await page.goto(`/app/agents/of/${agent.id}`);
    await lookAt(page);
    await follow(page, 'Kill switch');
    expect(await textOf('main')).toContain('It does not end the process of the agent.');
    await lookAt(page);
    await fill(page, { reason: 'it uses what it may not' });
    await press(page, 'Stop the agent now');
    const rows = await page.locator('table').first().locator('tbody tr').allInnerTexts();
    expect(rows).toHaveLength(9);
    expect(rows.slice(-2)).toEqual([
      expect.stringMatching(/Linked IAM apps.*not available/s),
      expect.stringMatching(/Vault lock.*not available/s),
    ]);
    expect(await textOf('h2:has-text("Notifications") ~ table')).toContain(LONG.trim());
    await lookAt(page);
    await page.goto('/app/');
    expect(await textOf('.tile:last-child')).toContain('Agents are suspended');
    await follow(page, 'suspended by the kill switch');
    await follow(page, LONG.trim());
    await lookAt(page);
    await follow(page, 'Reinstate');
    await lookAt(page);
    await fill(page, { reason: 'it was looked at' });
    await press(page, 'Reinstate');
    expect(await textOf('.facts >> nth=0')).toContain('active');
  });
});
