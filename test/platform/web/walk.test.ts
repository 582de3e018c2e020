import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { totpCode } from '../../../src/platform/accounts/totp.ts';
import { startPlatform } from '../../../src/platform/app.ts';
import type { Platform } from '../../../src/platform/options.ts';
import { evidence } from '../../support/evidence.ts';
import { someEntries } from '../../support/platform.ts';
import { CHEAP } from '../accounts/people-place.ts';
import { runPlatform } from '../command.ts';
import { fill, lookAt, PagesBrowser, press, WALKS } from './pages-browser.ts';

const NAMES = ['w'.repeat(200), 'تدقيق/سجل-الدخول', '生产/支付系统', 'a name of many words '.repeat(9).trim()];
const PASSWORD = 'a long walk by the sea';

/**
 * Walk through all pages. Each test continues where the preceding one ended; account-pages.test.ts submits the same
 * forms without scripts.
 */
describe.each(WALKS)('%s', { timeout: 120_000 }, (_how, javaScriptEnabled) => {
  let folder: string;
  let platform: Platform;
  let browser: PagesBrowser;
  let setUpPath: string;
  let firstKey: string;
  let ada: Page;
  /** Page of a person who is not signed in. */
  let stranger: Page;
  let secret: Buffer;
  let key: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'walk-'));
    const dataDir = join(folder, 'data');
    const { stdout } = await runPlatform(['init', '--data', dataDir]);
    firstKey = /sk_\w+/.exec(stdout)?.[0] ?? '';
    setUpPath = /http:\/\/127\.0\.0\.1:8181(\/app\/set-up\/\S+)/.exec(stdout)?.[1] ?? '';
    platform = await startPlatform({ dataDir, port: 0, logLevel: 'silent', signUp: 'open', passwords: CHEAP });
    browser = await PagesBrowser.launch(platform.origin);
  });
  afterAll(async () => {
    await browser.close();
    await platform.close();
    await rm(folder, { recursive: true });
    expect(browser.complaints).toEqual([]);
  });

  const open = (path: string) => browser.open(path, { javaScriptEnabled });
  const titleOf = (page: Page) => page.locator('h1').textContent();
  const follow = (page: Page, name: string) => page.locator('main').getByRole('link', { name, exact: true }).click();
  const noticeOf = (page: Page) => page.locator('[role=status]').textContent();
  /** Step of the last code; each code works once. */
  let step = 0;
  const nextCode = () => {
    step = Math.max(step + 1, Math.floor(Date.now() / 30_000));
    return totpCode(secret, step);
  };
  const callApi = async (path: string) =>
    (await fetch(platform.origin + path, { headers: { authorization: `Bearer ${key}` } })).status;
  const linkIn = async (kind: string) => {
    const all = await readdir(join(folder, 'data/mail'));
    const names = all
      .filter((name) => name.endsWith('.eml'))
      .toSorted()
      .toReversed();
    for (const name of names) {
      const text = await readFile(join(folder, 'data/mail', name), 'utf8');
      const link = new RegExp(`/app/${kind}/[\\w-]+`).exec(text)?.[0];
      if (link !== undefined) return link;
    }
    return '';
  };

  /** Waits for a letter, because letters are sent in the background. */
  const letterWith = async (kind: string) => {
    await expect.poll(() => linkIn(kind), { timeout: 20_000 }).not.toBe('');
    return linkIn(kind);
  };

  test('before anybody has an account, signing in says how the first one is made', async () => {
    stranger = await open('/app/');
    expect(await titleOf(stranger)).toBe('No accounts yet');
    await lookAt(stranger);
    await stranger.goto('/app/sign-up');
    expect(await titleOf(stranger)).toBe('Sign-up is closed');
    await lookAt(stranger);
  });

  test('the set-up link makes the first account, and is refused the second time', async () => {
    ada = await open(setUpPath);
    await fill(ada, { name: 'Ada', email: 'ada@example.com', password: 'ada ada ada 1' });
    await press(ada, 'Create account');
    expect(await ada.locator('#password-error').textContent()).toContain('must not contain your name');
    expect(await ada.inputValue('#email')).toBe('ada@example.com');
    await lookAt(ada);
    await fill(ada, { password: PASSWORD });
    await press(ada, 'Create account');
    expect(await noticeOf(ada)).toContain('Add a second factor');
    await lookAt(ada);
    await stranger.goto(setUpPath);
    expect(await titleOf(stranger)).toBe('This link is no longer valid');
    await lookAt(stranger);
  });

  test('a second factor is added, after the password is asked for again', async () => {
    await follow(ada, 'Add one');
    expect(await titleOf(ada)).toBe('Confirm that it is you');
    await lookAt(ada);
    await fill(ada, { password: PASSWORD });
    await press(ada, 'Go on');
    expect(await titleOf(ada)).toBe('Add an authenticator');
    secret = fromBase32((await ada.locator('#secret').textContent()) ?? '');
    await fill(ada, { code: '000000' });
    await press(ada, 'Turn it on');
    expect(fromBase32((await ada.locator('#secret').textContent()) ?? '')).toEqual(secret);
    await lookAt(ada);
    await fill(ada, { code: nextCode() });
    await press(ada, 'Turn it on');
    expect(await titleOf(ada)).toBe('Save your recovery codes');
    expect(await ada.locator('main').textContent()).toContain('Your authenticator was added');
    await lookAt(ada);
  });

  test('signing out ends it, and signing in asks for password and code', async () => {
    const { cookies } = await ada.context().storageState();
    await ada.getByRole('button', { name: 'Sign out' }).click();
    await ada.goto('/app/keys');
    expect(await titleOf(ada)).toBe('Sign in');
    await lookAt(ada);
    await ada.context().addCookies(cookies);
    await ada.goto('/app/keys');
    expect(await titleOf(ada)).toBe('Sign in');
    await fill(ada, { email: 'ada@example.com', password: 'not this one' });
    await press(ada, 'Sign in');
    expect(await ada.locator('[role=alert]').textContent()).toContain('is wrong');
    await fill(ada, { password: PASSWORD });
    await press(ada, 'Sign in');
    await lookAt(ada);
    await fill(ada, { code: '000000' });
    await press(ada, 'Sign in');
    expect(await ada.locator('#code-error').textContent()).toContain('is wrong');
    await fill(ada, { code: nextCode() });
    await press(ada, 'Sign in');
    expect(await titleOf(ada)).toBe('API keys');
    await lookAt(ada);
  });

  test('an API key is made, shown once, rotated and revoked', async () => {
    await follow(ada, 'Create an API key');
    await fill(ada, { name: '<b>exporter</b>' });
    await press(ada, 'Create');
    await lookAt(ada);
    await ada.getByLabel('Other scopes').check();
    await lookAt(ada);
    await ada.getByLabel('audit:read').check();
    await press(ada, 'Create');
    key = (await ada.locator('#key').textContent()) ?? '';
    await lookAt(ada);
    expect(await callApi('/audit/streams/')).toBe(200);
    expect(await callApi('/keys/')).toBe(403);
    await ada.reload();
    expect(await ada.locator('[role=alert]').textContent()).toContain('cannot be shown again');
    await ada.goto('/app/keys');
    expect(await ada.content()).not.toContain(key);
    await follow(ada, '<b>exporter</b>');
    await lookAt(ada);
    await follow(ada, 'Rotate');
    await lookAt(ada);
    await ada.selectOption('#overlap_seconds', '0');
    await press(ada, 'Rotate');
    expect(await callApi('/audit/streams/')).toBe(401);
    key = (await ada.locator('#key').textContent()) ?? '';
    expect(await callApi('/audit/streams/')).toBe(200);
    await ada.goto(`/app/keys/${key.slice(3, 11)}`);
    await follow(ada, 'Revoke');
    await lookAt(ada);
    await press(ada, 'Revoke it');
    expect(await noticeOf(ada)).toBe('<b>exporter</b> is revoked.');
    await lookAt(ada);
    expect(await callApi('/audit/streams/')).toBe(401);
  });

  test('a key that is made to read and to export carries an export to its end, and what it took is verified', async () => {
    const headers = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ entries: someEntries('payments', 30) });
    await fetch(`${platform.auditUrl}/entries/batch`, { method: 'POST', headers, body });
    await ada.goto('/app/keys/new');
    await fill(ada, { name: 'nightly export' });
    await ada.getByLabel('exporter').check();
    await press(ada, 'Create');
    const apiKey = (await ada.locator('#key').textContent()) ?? '';
    const env = { EVIDENCE_AUDIT_URL: platform.auditUrl, EVIDENCE_API_KEY: apiKey };
    const exported = await evidence(['export', '--all-time', '--json'], { cwd: folder, env });
    expect(exported.code, exported.stdout).toBe(0);
    const { streams } = JSON.parse(exported.stdout);
    expect(streams).toHaveLength(2);
    const verified = await evidence(['verify', 'evidence-archive'], { cwd: folder });
    expect(verified.code, verified.stdout).toBe(0);
    await ada.goto(`/app/keys/${apiKey.slice(3, 11)}`);
    expect(await ada.locator('.facts').textContent()).not.toMatch(/Last used\s*never/);
  });

  test('Verify is pressed, and it says when it was and up to where', async () => {
    const headers = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ entries: someEntries('logins', 7) });
    await fetch(`${platform.auditUrl}/entries/batch`, { method: 'POST', headers, body });
    await ada.goto('/app/audit/streams/logins');
    expect(await ada.locator('.verdict').textContent()).toContain('No valid record of a check');
    await press(ada, 'Verify now');
    expect(await ada.locator('main').textContent()).toContain('7 entries: entries 1 to 7');
    await lookAt(ada);
    await ada.goto('/app/audit/streams/logins');
    expect(await ada.locator('.verdict').textContent()).toMatch(
      /✓ Verified\s+Verified on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC .* up to entry 7; no entry since\./,
    );
    const [shown = ''] = /\d{4}-\S+ \S+ UTC/.exec((await ada.locator('.verdict').textContent()) ?? '') ?? [];
    expect(Math.abs(Date.now() - Date.parse(shown.replace(' UTC', 'Z')))).toBeLessThan(120_000);
    await lookAt(ada);
  });

  test('names of any length and script stay where they are', async () => {
    for (const name of NAMES)
      await fetch(`${platform.origin}/keys/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name, scopes: ['audit:read', 'audit:write', 'people:read'] }),
      });
    await ada.goto('/app/keys');
    expect(await ada.locator('tbody th a').allTextContents()).toEqual(expect.arrayContaining(NAMES));
    await lookAt(ada);
    await follow(ada, NAMES[0] ?? '');
    await lookAt(ada);
  });

  test('somebody signs up, and has an account by the link in the letter, once', async () => {
    const cyd = await open('/app/sign-up');
    await lookAt(cyd);
    await fill(cyd, { email: 'cyd@example.com' });
    await press(cyd, 'Send me a link');
    await lookAt(cyd);
    const link = await letterWith('confirm');
    await cyd.goto(link);
    await lookAt(cyd);
    await fill(cyd, { name: 'Cyd', password: PASSWORD });
    await press(cyd, 'Create account');
    await cyd.goto('/app/audit');
    expect(await titleOf(cyd)).toBe('Audit');
    await stranger.goto(link);
    expect(await titleOf(stranger)).toBe('This link is no longer valid');
  });

  test('somebody is invited, comes in by the letter, and does what an auditor may', async () => {
    await ada.getByRole('link', { name: 'People' }).click();
    await lookAt(ada);
    await follow(ada, 'Invite somebody');
    await lookAt(ada);
    await fill(ada, { email: 'ben@example.com' });
    await press(ada, 'Invite');
    expect(await noticeOf(ada)).toBe('The invitation to ben@example.com is queued.');
    await lookAt(ada);
    await follow(ada, 'Send again');
    await lookAt(ada);
    await press(ada, 'Send again');
    expect(await noticeOf(ada)).toBe('The invitation to ben@example.com is queued again.');
    const link = await letterWith('invited');
    const ben = await open(link);
    expect(await ben.locator('.introduction').textContent()).toContain('For ben@example.com, as auditor.');
    await lookAt(ben);
    await fill(ben, { name: 'Ben', password: PASSWORD });
    await press(ben, 'Create account');
    await lookAt(ben);
    for (const [path, title] of [
      ['/app/keys', 'API keys'],
      ['/app/people', 'People'],
      ['/app/administration', 'Administration'],
    ] as const) {
      await ben.goto(path);
      expect(await titleOf(ben)).toBe(title);
      expect(await ben.locator('main a.button').count()).toBe(0);
    }
    await ben.goto('/app/keys/new');
    expect(await titleOf(ben)).toBe('Not allowed');
    await lookAt(ben);
    await ada.reload();
    await follow(ada, 'Ben');
    await lookAt(ada);
    await follow(ada, 'Change the role');
    await lookAt(ada);
    await ada.getByLabel('Operator').check();
    await press(ada, 'Change it');
    expect(await noticeOf(ada)).toBe('Ben is now operator.');
    await ben.goto('/app/people');
    expect(await titleOf(ben)).toBe('Not allowed');
    await follow(ada, 'Disable');
    await lookAt(ada);
    await press(ada, 'Disable');
    await ben.goto('/app/keys');
    expect(await titleOf(ben)).toBe('Sign in');
  });

  test('the administration says what was done and what the platform runs with', async () => {
    await ada.getByRole('link', { name: 'Administration' }).click();
    const acts = await ada.locator('tbody th').allTextContents();
    expect(acts.slice(0, 3)).toEqual(['Person disabled', 'Person role changed', 'Person joined']);
    expect(await ada.locator('.facts').textContent()).toContain('SQLite in the data folder');
    await lookAt(ada);
  });

  test('a forgotten password is set anew by a letter', async () => {
    await ada.goto('/app/password');
    await lookAt(ada);
    await stranger.goto('/app/forgot');
    await lookAt(stranger);
    await fill(stranger, { email: 'ada@example.com' });
    await press(stranger, 'Send me a link');
    await lookAt(stranger);
    const link = await letterWith('reset');
    await stranger.goto(link);
    await lookAt(stranger);
    await fill(stranger, { password: `${PASSWORD} again` });
    await press(stranger, 'Set it');
    expect(await noticeOf(stranger)).toBe('Your password was set. Sign in with the new password.');
    await stranger.goto(link);
    expect(await titleOf(stranger)).toBe('This link is no longer valid');
    await ada.goto('/app/');
    expect(await titleOf(ada)).toBe('Sign in');
  });
});

function fromBase32(text: string): Buffer {
  const bits = [...text.replace(/\s/g, '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}
