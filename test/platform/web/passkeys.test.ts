import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../support/ports.ts';
import { type Service, startService } from '../service.ts';
import { fill, lookAt, PagesBrowser, press } from './pages-browser.ts';
import { visitorsOf } from './visitor.ts';

const PASSWORD = 'a long walk by the sea';
const EMAIL = 'owner@example.com';

let service: Service;
let browser: PagesBrowser;
let page: Page;
let devices: CDPSession;

beforeAll(async () => {
  const port = await freePort();
  service = await startService({ port, publicUrl: `http://localhost:${port}` });
  await visitorsOf(service, ['owner']);
  browser = await PagesBrowser.launch(`http://localhost:${port}`);
  page = await browser.open('/app/sign-in');
  devices = await page.context().newCDPSession(page);
  await devices.send('WebAuthn.enable');
});
afterAll(async () => {
  await browser.close();
  await service.close();
  expect(browser.complaints).toEqual([]);
});

const titleOf = () => page.locator('h1').textContent();
const follow = (name: string) => page.locator('main').getByRole('link', { name, exact: true }).click();
const noticeOf = () => page.locator('[role=status]').textContent();
const signOut = () => page.getByRole('button', { name: 'Sign out' }).click();
const prove = async (button: string) => {
  await fill(page, { password: PASSWORD });
  await press(page, button);
};
const signIn = async () => {
  await page.goto('/app/sign-in');
  await fill(page, { email: EMAIL });
  await prove('Sign in');
};
const addDevice = async (hasUserVerification = true) => {
  const options = {
    protocol: 'ctap2',
    transport: 'usb',
    hasUserVerification,
    isUserVerified: hasUserVerification,
  } as const;
  const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, automaticPresenceSimulation: true },
  });
  return authenticatorId;
};

/** All uses of a passkey, in order. */
test('a passkey is added, asked for, proves again, and is removed', { timeout: 120_000 }, async () => {
  await signIn();
  await page.goto('/app/account');
  await lookAt(page);
  await follow('Add a passkey');
  await prove('Go on');
  expect(await titleOf()).toBe('Add a passkey');
  expect(await page.getByText('An authenticator works without').isVisible()).toBe(false);
  await lookAt(page);
  const device = await addDevice();
  await press(page, 'Add it');
  await fill(page, { name: '<b>security key</b>' });
  await press(page, 'Add it');
  await page.getByText('<b>security key</b> was added').waitFor();
  expect(await titleOf()).toBe('Save your recovery codes');
  await lookAt(page);

  // A device makes no second passkey.
  await page.goto('/app/passkeys/new');
  await fill(page, { name: 'again' });
  await press(page, 'Add it');
  await page.getByText('This device already has one of your passkeys.').waitFor();
  await lookAt(page);

  await signOut();
  await signIn();
  expect(await page.locator('[name=code]').count()).toBe(0);
  await lookAt(page);
  await press(page, 'Sign in with a passkey');
  await page.waitForURL(({ pathname }) => pathname === '/app/');
  const { credentials } = await devices.send('WebAuthn.getCredentials', { authenticatorId: device });
  expect(credentials).toMatchObject([{ rpId: 'localhost', signCount: 2 }]);

  await page.goto('/app/prove?then=/app/account');
  await lookAt(page);
  await prove('Go on with a passkey');
  await page.waitForURL(({ pathname }) => pathname === '/app/account');
  await lookAt(page);
  await page.goto('/app/password');
  await lookAt(page);

  // Signing in requires the device.
  await devices.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: device });
  const other = await addDevice();
  await page.goto('/app/prove?then=/app/account');
  await prove('Go on with a passkey');
  await page.getByText('The request was canceled or timed out, or none of your passkeys is here.').waitFor();
  await lookAt(page);
  await devices.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: other });

  await page.goto('/app/account');
  await follow('Remove');
  expect(await titleOf()).toBe('Remove <b>security key</b>');
  await lookAt(page);
  await press(page, 'Remove it');
  expect(await noticeOf()).toBe('The passkey was removed.');
  await signOut();
  await signIn();
  expect(new URL(page.url()).pathname).toBe('/app/');
});

test('without scripts the pages say what works instead', async () => {
  await addDevice(false);
  await signIn();
  await page.goto('/app/prove?then=/app/passkeys/new');
  await prove('Go on');
  await fill(page, { name: 'key without a PIN' });
  await press(page, 'Add it');
  await page.getByText('key without a PIN was added').waitFor();
  const cookies = await page.context().cookies();
  const plain = await browser.open('/app/passkeys/new', {
    javaScriptEnabled: false,
    storageState: { cookies, origins: [] },
  });
  expect(await plain.locator('main').textContent()).toContain('An authenticator works without scripts.');
  expect(await plain.getByRole('button', { name: 'Add it' }).isVisible()).toBe(false);
  await lookAt(plain);
  await plain.goto('/app/prove');
  expect(await plain.locator('main').textContent()).toContain('Use another browser or a recovery code.');
  expect(await plain.getByText('Use a recovery code instead').isVisible()).toBe(true);
  await lookAt(plain);
});
