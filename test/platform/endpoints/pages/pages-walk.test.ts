import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../service.ts';
import { fill, follow, lookAt, PagesBrowser, press, WALKS } from '../../web/pages-browser.ts';
import { visitorsOf } from '../../web/visitor.ts';
import { ENDPOINTS, HttpSensor } from '../http-sensor.ts';
import { file, SensorDouble } from '../sensor-double.ts';
import { AFTER, BEFORE, eventsOf, HOSTILE, reported, watched } from './scene.ts';

const LONG = `${'a machine of many words '.repeat(6)}${'w'.repeat(50)}`;
const CHANGED = file('/usr/bin/sudo', 'sudo 2', { mode: '4755' });

/**
 * Walk through the pages of endpoints. Each test continues where the preceding one ended; pages.test.ts submits the
 * same forms without scripts.
 */
describe.each(WALKS)('%s', { timeout: 120_000 }, (_how, javaScriptEnabled) => {
  let service: Service;
  let browser: PagesBrowser;
  let page: Page;
  let sensor: HttpSensor;

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

  const titleOf = () => page.locator('h1').textContent();
  const main = () => page.locator('main').innerText();
  const rows = () => page.locator('#live tbody tr').allTextContents();
  const say = async (reason: string, button: string) => {
    await fill(page, { reason: reason });
    await press(page, button);
  };

  test('a machine is enrolled from the front page on, and its token is shown once', async () => {
    await lookAt(page);
    await follow(page, 'Enroll one');
    await fill(page, { password: 'a long walk by the sea' });
    await page.locator('main button').first().click();
    await lookAt(page);
    await fill(page, { name: 'web-1' });
    await press(page, 'Enroll');
    const token = (await page.locator('#token').textContent()) ?? '';
    expect(await page.locator('#start').textContent()).toContain(`--url ${service.origin}/endpoints`);
    await lookAt(page);
    await follow(page, 'I have stored it');
    expect(await main()).toContain('Nothing was reported yet.');
    await lookAt(page);
    sensor = new HttpSensor(service, new SensorDouble(new URL(page.url()).pathname.split('/').at(-1) ?? ''), token);
    const { next } = (await sensor.send('GET', '/sensor/settings')).body;
    await sensor.send('POST', '/sensor/key', sensor.sensor.proof(next));
    await reported(sensor, BEFORE);
  });

  test('its first scan becomes its baseline', async () => {
    await page.reload();
    await follow(page, 'Propose the last scan as a baseline');
    await lookAt(page);
    await fill(page, { name: 'the first' });
    await say('a new machine', 'Propose');
    await lookAt(page);
    await follow(page, 'Approve');
    await say('looked at', 'Approve');
    expect(await page.locator('[role=status]').textContent()).toBe('The baseline is active.');
    await page.goto('/app/');
    expect(await page.locator('.tile', { hasText: 'Endpoint integrity' }).innerText()).toContain(
      'Endpoints match their baselines',
    );
  });

  test('what differs appears by itself where scripts run, and is said aloud', async () => {
    await watched(service, 'web-2', BEFORE);
    const other = await watched(service, LONG, BEFORE);
    await page.goto('/app/endpoints');
    await lookAt(page);
    await follow(page, 'Events');
    expect(await rows()).toEqual([]);
    await reported(sensor, AFTER);
    await reported(other, [CHANGED, ...BEFORE.slice(1)]);
    if (javaScriptEnabled) {
      await expect.poll(rows).toHaveLength(8);
      expect(await page.locator('#live-said').textContent()).toMatch(/^\d events open\.$/);
    } else {
      expect(await page.locator('#live-note').textContent()).toContain('Reload the page');
      await page.reload();
    }
    expect(await rows()).toContainEqual(expect.stringMatching(/\/usr\/bin\/sudo .*content changed.*web-1.*critical/s));
    await lookAt(page);
  });

  test('an event has both digests and what explains it, and is acknowledged', async () => {
    const event = (await eventsOf(service, sensor)).get('/usr/bin/sudo');
    const signed = { kind: 'signed_package', name: 'sudo', version: '1.9', archive: 'Debian', signed_by: 'a key' };
    await service.sql(
      `UPDATE endpoint_events SET explanation = '${JSON.stringify(signed)}' WHERE event_id = '${event?.event_id}'`,
    );
    await page.goto(`/app/endpoints/hosts/${sensor.id}`);
    await lookAt(page);
    await follow(page, '/usr/bin/sudo');
    const digests = page.locator('table tr', { hasText: 'SHA-256' });
    expect(await digests.locator('td').allInnerTexts()).toEqual([
      event?.['expected_sha256'],
      event?.['observed_sha256'],
      '! no',
    ]);
    expect(await page.locator('.facts').innerText()).toContain('signed package sudo 1.9');
    await lookAt(page);
    await press(page, 'Acknowledge');
    expect(await main()).toContain('acknowledged by The operator');
    await page.getByRole('link', { name: /^entry \d+ of its stream$/ }).click();
    expect(await titleOf()).toMatch(/^Entry \d+$/);
  });

  test('one change on many endpoints is approved wherever it stands', async () => {
    await page.goto('/app/endpoints/changes');
    await lookAt(page);
    const row = page.locator('tbody tr', { hasText: '/usr/bin/sudo' });
    expect(await row.innerText()).toContain('2 of 3 have it');
    await row.getByRole('link').click();
    await lookAt(page);
    await follow(page, 'Approve on all endpoints');
    await say('the upgrade', 'Approve');
    expect(await page.locator('.facts').innerText()).toContain('approved change');
    await page.locator('tbody tr', { hasText: LONG }).getByRole('link').click();
    await lookAt(page);
  });

  test('a change window quiets what is found, and lists it', async () => {
    await page.goto(`/app/endpoints/hosts/${sensor.id}`);
    await follow(page, 'Open a change window');
    await lookAt(page);
    await say(LONG, 'Open');
    await reported(sensor, [...AFTER, file('/usr/bin/upgraded', 'new')]);
    await page.reload();
    expect(await page.locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/upgraded.*web-1.*quieted/s),
    ]);
    await lookAt(page);
    await follow(page, 'Approve the quieted events');
    await say('it was meant', 'Approve');
    expect(await page.locator('tbody tr').innerText()).toContain('approved change');
    await page.goto('/app/endpoints/change-windows');
    await lookAt(page);
  });

  test('isolating is a label, and says so before and after', async () => {
    await page.goto(`/app/endpoints/hosts/${sensor.id}`);
    await follow(page, 'Label as isolated');
    expect(await main()).toContain('This is only a label: the machine is not disconnected from the network.');
    await lookAt(page);
    await say('until we know', 'Label');
    expect(await page.locator('.refusal').innerText()).toContain(
      'This is only a label: the machine is not disconnected from the network.',
    );
    expect((await sensor.send('GET', '/sensor/settings')).status).toBe(200);
    await lookAt(page);
    await follow(page, 'Start a new chain');
    await follow(page, 'Cancel');
  });

  test('its reports are verified, and what was altered is found', async () => {
    await press(page, 'Verify now');
    expect(await titleOf()).toBe('The reports are unchanged');
    await lookAt(page);
    await service.sql(`UPDATE endpoint_scans SET head = replace(head, 'a boot', 'b boot') WHERE sequence = 1`);
    await follow(page, 'web-1');
    await press(page, 'Verify now');
    expect(await page.locator('tbody').innerText()).toContain('report_digest');
    await lookAt(page);
  });

  test('a name that would hide or steer something stays where it is', async () => {
    const event = (await eventsOf(service, sensor)).get(HOSTILE);
    await page.goto(`/app/endpoints/events/${event?.event_id}`);
    expect(await titleOf()).toContain('‹U+202E›‹U+001B›[2J‹U+000A›x');
    await lookAt(page);
    const { baseline_id } = (
      await service.call('POST', `${ENDPOINTS}/hosts/${sensor.id}/baselines`, {
        from: 'latest_scan',
        name: LONG,
        reason: LONG,
      })
    ).body;
    await page.goto(`/app/endpoints/baselines/${baseline_id}`);
    await lookAt(page);
    await page.goto('/app/endpoints/baselines');
    await lookAt(page);
    await page.goto(`/app/endpoints/hosts/${sensor.id}/scans`);
    await lookAt(page);
    await page.goto('/app/endpoints/packages');
    await lookAt(page);
    await page.goto('/app/');
    await lookAt(page);
  });
});
