import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import { newTotpSecret, totpCode } from '../../../src/platform/accounts/totp.ts';
import { call, type Service, startService } from '../service.ts';
import { type Attack, expectRefused, readValue } from './attack.ts';
import { Browser, inside, join, PASSWORD, type Page, signIn } from './browser.ts';

const [ADA, BEN, CYD] = ['ada@example.com', 'ben@example.com', 'cyd@example.com'];
const NEW_PASSWORD = 'seven green bottles fell';
const OWNER = byCommand('test');

let service: Service;
/** Secret of Cyd's authenticator. */
const secret = newTotpSecret();
let codes: string[];
const idOf = (email: string) => readValue(service, `SELECT person_id FROM people WHERE email = '${email}'`);
const linkOf = (purpose: 'invite' | 'reset', content: object) =>
  inside(service, async ({ accounts, database, clock }) =>
    accounts.links.token(await database.write((to) => accounts.links.make(to, purpose, { ...content }, clock()))),
  );

beforeAll(async () => {
  service = await startService();
  await join(service, ADA, 'owner');
  await join(service, BEN);
  const { session } = await join(service, CYD);
  codes = await inside(service, async ({ accounts: { credentials }, clock }) => {
    const code = totpCode(secret, Math.floor(clock().getTime() / 30_000) - 1);
    return (await credentials.addAuthenticator(session, secret, code)) ?? [];
  });
});
afterAll(() => service.close());

/** Sends a request with these cookies, and nothing else. */
const withCookie = (value: string): Promise<Page> => new Browser(service.origin).get('/app/', { cookie: value });
const ask = (session: string) => withCookie(`evidence_session=${session}`);

const TO_SIGN_IN = '303';

describe('no session is', () => {
  let ben: Browser;
  let link: string;
  beforeAll(async () => {
    ben = await signIn(service, BEN);
    link = await linkOf('reset', { person_id: idOf(ADA) });
  });

  const TOKENS: readonly Attack[] = [
    ['an empty token', () => ask(''), TO_SIGN_IN],
    ['a digest from the database', (at) => ask(readValue(at, 'SELECT sha256 FROM sessions')), TO_SIGN_IN],
    ['the ID of a session', (at) => ask(readValue(at, 'SELECT session_id FROM sessions')), TO_SIGN_IN],
    ['the ID of a person', () => ask(idOf(ADA)), TO_SIGN_IN],
    ['a form token', () => ask(ben.csrf), TO_SIGN_IN],
    ['the cookie of a device', () => ask(ben.cookies.get('evidence_device') ?? ''), TO_SIGN_IN],
    ['a token in another cookie', () => withCookie(`evidence_visitor=${ben.session}`), TO_SIGN_IN],
    ['a token in a cookie of another name', () => withCookie(`Evidence_Session=${ben.session}`), TO_SIGN_IN],
    ['a token with a blank', () => ask(`${ben.session}%20`), TO_SIGN_IN],
    ['a token with padding', () => ask(`${ben.session}=`), TO_SIGN_IN],
    ['a token in capitals', () => ask(ben.session.toUpperCase()), TO_SIGN_IN],
    ['a wildcard', () => ask('%25'), TO_SIGN_IN],
    ['a broken escape', () => ask('%E0%A4%A'), TO_SIGN_IN],
    ['a quotation mark', () => ask("'%20OR%20'1'='1"), TO_SIGN_IN],
    ['60,000 characters', () => ask('x'.repeat(60_000)), TO_SIGN_IN],
    [
      'a token in the query',
      () => new Browser(service.origin).get(`/app/?evidence_session=${ben.session}`),
      TO_SIGN_IN,
    ],
    ['a token as a key', () => call(service.origin, ben.session, 'GET', '/app/'), TO_SIGN_IN],
    ['a cookie for the API', () => new Browser(service.origin, ben.session).get('/audit/streams/'), '401'],
    ['a link for an account', () => ask(link), TO_SIGN_IN],
  ];

  test.each(TOKENS)('%s', (...attack) => expectRefused(service, attack));
});

describe('a session ends', () => {
  let ben: Browser;
  let other: Browser;
  beforeEach(async () => {
    ben = await signIn(service, BEN);
    other = await signIn(service, BEN);
  });

  const ENDS: readonly (readonly [name: string, end: () => Promise<unknown>, left: readonly number[]])[] = [
    ['when it signs out', () => ben.submit('/app/sign-out', {}), [303, 200]],
    ['when it signs in again', () => ben.submit('/app/sign-in', { email: BEN, password: PASSWORD }), [303, 200]],
    ['when it signs in as another', () => ben.submit('/app/sign-in', { email: ADA, password: PASSWORD }), [303, 200]],
    ['when a link resets the password', () => resetBy(BEN, PASSWORD), [303, 303]],
    ['when the person is disabled', () => disabledFor(async () => {}), [303, 303]],
    [
      'and is none again when the person is enabled',
      () => inside(service, ({ accounts: { people } }) => people.enable(OWNER, idOf(BEN))),
      [200, 200],
    ],
    ['when another ends all others', async () => ended(other), [303, 200]],
  ];

  async function resetBy(email: string, password: string): Promise<void> {
    const token = await linkOf('reset', { person_id: idOf(email) });
    await inside(service, ({ accounts: { credentials } }) => credentials.reset(token, password));
  }

  async function disabledFor(work: () => Promise<void>): Promise<void> {
    await inside(service, ({ accounts: { people } }) => people.disable(OWNER, idOf(BEN)));
    await work();
    await inside(service, ({ accounts: { people } }) => people.enable(OWNER, idOf(BEN)));
  }

  async function ended(browser: Browser): Promise<void> {
    await browser.submit('/app/prove', { password: PASSWORD });
    await browser.submit('/app/account/sessions/end-others', {});
  }

  test.each(ENDS)('%s', async (_name, end, left) => {
    const [first, second] = [ben.session, other.session];
    await end();
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual(left);
  });

  test('when another changes the password, and so does every link for a new one', async () => {
    const [first, second] = [ben.session, other.session];
    const token = await linkOf('reset', { person_id: idOf(BEN) });
    await inside(service, ({ accounts: { credentials } }) =>
      credentials.changePassword(second, 'network', { password: PASSWORD, next: NEW_PASSWORD }),
    );
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([303, 200]);
    expect((await new Browser(service.origin).get(`/app/reset/${token}`)).status).toBe(410);
    await resetBy(BEN, PASSWORD);
  });

  test('and the cookie of a device that was planted brings nobody in', async () => {
    const planted = new Browser(service.origin, ben.session);
    planted.cookies.set('evidence_visitor', 'planted');
    const before = planted.session;
    expect((await planted.submit('/app/sign-in', { email: ADA, password: PASSWORD })).status).toBe(303);
    expect(planted.session).not.toBe(before);
    expect((await ask(before)).status).toBe(303);
  });
});

describe('a second factor is not passed by', () => {
  /** Gives the password. @returns the browser, and its ticket. */
  async function halfway(): Promise<{ browser: Browser; ticket: string }> {
    const browser = new Browser(service.origin);
    const { text } = await browser.submit('/app/sign-in', { email: CYD, password: PASSWORD });
    return { browser, ticket: /name="ticket" value="([^"]*)"/.exec(text)?.[1] ?? '' };
  }

  const guess = (fields: (ticket: string) => Record<string, string>) => async () => {
    const { browser, ticket } = await halfway();
    return browser.post('/app/sign-in/code', fields(ticket));
  };
  const present = () => totpCode(secret, Math.floor(Date.now() / 30_000));
  const REFUSED = '401';

  const GUESSES: readonly Attack[] = [
    ['the front page', async () => (await halfway()).browser.get('/app/'), TO_SIGN_IN],
    ['no factor', guess((ticket) => ({ ticket })), REFUSED],
    [
      'an old code',
      guess((ticket) => ({ ticket, code: totpCode(secret, Math.floor(Date.now() / 30_000) - 9) })),
      REFUSED,
    ],
    ['a recovery code as code', guess((ticket) => ({ ticket, code: codes[0] ?? '' })), REFUSED],
    ['a code as recovery code', guess((ticket) => ({ ticket, recovery_code: present() })), REFUSED],
    ['no ticket', guess(() => ({ code: present() })), TO_SIGN_IN],
    ['a ticket of nobody', guess(() => ({ ticket: 'x', code: present() })), REFUSED],
    [
      'the ticket of a device',
      async () => {
        const { browser } = await halfway();
        const device = (await signIn(service, BEN)).cookies.get('evidence_device') ?? '';
        return browser.post('/app/sign-in/code', { ticket: device, code: present() });
      },
      REFUSED,
    ],
    ['a passkey that is no JSON', guess((ticket) => ({ ticket, passkey: '{' })), '422'],
    ['a passkey of nothing', guess((ticket) => ({ ticket, passkey: '{}' })), '422'],
  ];

  test.each(GUESSES)('%s', (...attack) => expectRefused(service, attack));
});

describe('nobody is led elsewhere after signing in by', () => {
  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/app/../../evil.example',
    '/app//evil.example',
    '/app/%2e%2e//evil.example',
    '/app@evil.example',
    '/app.evil.example/',
    'javascript:alert(1)',
    '/app/\r\nSet-Cookie: x=y',
    '\t//evil.example',
    'https:evil.example',
  ])('%j', async (then) => {
    const browser = new Browser(service.origin);
    const { status, location } = await browser.submit(`/app/sign-in?${new URLSearchParams({ then })}`, {
      email: BEN,
      password: PASSWORD,
    });
    expect(status).toBe(303);
    const target = new URL(location, service.origin);
    expect([target.origin, target.pathname.startsWith('/app')]).toEqual([service.origin, true]);
  });
});
