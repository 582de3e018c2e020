import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountsTidyJob } from '../../../src/platform/accounts/accounts.ts';
import { browserWords } from '../../../src/platform/accounts/sessions.ts';
import { newTotpSecret } from '../../../src/platform/accounts/totp.ts';
import type { JobTables } from '../../../src/platform/jobs/tables.ts';
import { SCOPES } from '../../../src/platform/scopes.ts';
import { PASSWORD } from '../accounts/people-place.ts';
import type { DatabasePlace } from '../database/databases.ts';
import { startSqlitePlace } from '../database/databases.ts';
import { type AccountPages, accountPagesOn } from './account-pages.ts';
import type { Visit } from './frame.ts';

const ADA = 'ada@example.com';
const HOSTILE = '</title><script>alert(1)</script>"\'&';
const MINUTE = 60_000;

let databases: DatabasePlace;
let at: AccountPages;
beforeAll(async () => {
  databases = await startSqlitePlace();
});
afterAll(() => databases.close());
beforeEach(async () => {
  at = await accountPagesOn((await databases.createMigrated()).database);
});

const titleOf = ({ body }: { body: string }) => /<h1><bdi>([^<]*)/.exec(body)?.[1];
const alertOf = ({ body }: { body: string }) => /role="alert">([^<]*)/.exec(body)?.[1];
/** Creates an account with a session. */
const comeIn = async (email = ADA, role: 'owner' | 'operator' | 'auditor' = 'owner', name = 'Somebody') => {
  const personId = await at.place.join(email, role, name);
  return { personId, session: await at.place.signIn(email) };
};
const signIn = (visit: Visit, fields: Record<string, string> = {}, path = '/app/sign-in') =>
  visit.submit(path, { email: ADA, password: PASSWORD, ...fields });
const csrfIn = ({ body }: { body: string }) =>
  /name="csrf" value="([^"]*)"/.exec(body.slice(body.indexOf('<main')))?.[1] ?? '';
const ticketIn = ({ body }: { body: string }) => /name="ticket" value="([^"]*)"/.exec(body)?.[1] ?? '';
/** Adds a second factor to an account. */
const addFactor = async () => {
  const secret = newTotpSecret();
  await at.place.accounts.credentials.addAuthenticator(await at.place.signIn(ADA), secret, at.place.codeOf(secret));
  at.place.now += MINUTE;
  return secret;
};

describe('signing in', () => {
  test.each([
    ['over HTTP', {}, '; HttpOnly; SameSite=Lax'],
    ['where people come by HTTPS', { publicUrl: 'https://evidence.example' }, '; HttpOnly; Secure; SameSite=Lax'],
    ['over a proxy that says so', { trustedProxies: ['127.0.0.1'] }, '; HttpOnly; Secure; SameSite=Lax'],
  ])('%s gives a cookie for pages alone', async (_how, options, flags) => {
    at = await accountPagesOn((await databases.createMigrated()).database, options);
    await comeIn();
    const answer = await signIn(at.visit(undefined, { 'x-forwarded-proto': 'https' }));
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/app/']);
    const cookies = [answer.headers['set-cookie'] ?? []].flat();
    const session = cookies.find((cookie) => cookie.startsWith('evidence_session='));
    expect(session?.replace(/=[\w-]{43};/, '=TOKEN;')).toBe(`evidence_session=TOKEN; Path=/app${flags}`);
  });

  test('begins a session that nobody knew before, and ends the one that was there', async () => {
    const { session } = await comeIn();
    await at.place.join('mallory@example.com', 'auditor', 'Mallory');
    const planted = await at.place.signIn('mallory@example.com');
    const visit = at.visit(planted);
    await signIn(visit);
    const now = visit.cookies.get('evidence_session') ?? '';
    expect([planted, session]).not.toContain(now);
    expect(titleOf(await visit.get('/app/people'))).toBe('People');
    expect((await at.visit(planted).get('/app/')).statusCode).toBe(303);
    expect((await at.visit(session).get('/app/')).statusCode).toBe(200);
    const invented = at.visit('an-invented-token');
    await signIn(invented);
    expect(invented.cookies.get('evidence_session')).not.toBe('an-invented-token');
  });

  test('says the same of a wrong password, an address that nobody has, and one that is disabled', async () => {
    await comeIn();
    const { personId } = await comeIn('ben@example.com', 'auditor');
    await at.place.accounts.people.disable({ name: 'test', scopes: [] }, personId);
    const pageFor = async (email: string, password: string) => {
      const { statusCode, body } = await signIn(at.visit(), { email, password });
      return [statusCode, body.replace(/value="[^"]*"/g, '')];
    };
    const wrong = await pageFor(ADA, 'wrong');
    expect(wrong[0]).toBe(401);
    expect(await pageFor('nobody@example.com', 'wrong')).toEqual(wrong);
    expect(await pageFor('not an address', 'wrong')).toEqual(wrong);
    expect(await pageFor('ben@example.com', PASSWORD)).toEqual(wrong);
  });

  test('has to wait after too many attempts, and is told how long', async () => {
    await comeIn();
    const visit = at.visit();
    for (let guess = 0; guess < 5; guess++) await signIn(visit, { password: `guess ${guess}` });
    const answer = await signIn(visit);
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '300']);
    expect(alertOf(answer)).toBe('Too many attempts; try again in 300 s.');
    at.place.now += 5 * MINUTE;
    expect((await signIn(visit)).statusCode).toBe(303);
  });

  test('makes the browser known, which others can then not pause, also when they have another browser', async () => {
    const { personId } = await comeIn();
    const [own, renewed] = [at.visit(), at.visit()];
    const answer = await signIn(own);
    const cookies = [answer.headers['set-cookie'] ?? []].flat();
    expect(cookies.find((cookie) => cookie.startsWith('evidence_device='))?.replace(/=[^;]*/, '=SEALED')).toBe(
      'evidence_device=SEALED; Max-Age=15552000; Path=/app; HttpOnly; SameSite=Lax',
    );
    await own.submit('/app/sign-out', {});
    for (let guess = 0; guess < 6; guess++) await signIn(at.visit(), { password: `guess ${guess}` });
    expect((await signIn(at.visit())).statusCode).toBe(429);
    const stranger = at.visit();
    await at.place.join('mallory@example.com', 'auditor', 'Mallory');
    stranger.cookies.set('evidence_device', at.place.accounts.devices.cookie('mallory@example.com'));
    expect((await signIn(stranger)).statusCode).toBe(429);
    expect((await signIn(own)).statusCode).toBe(303);
    const token = await at.place.link('reset', { person_id: personId });
    const next = 'the third door on the left';
    expect((await renewed.submit(`/app/reset/${token}`, { password: next })).statusCode).toBe(303);
    expect((await signIn(renewed, { password: next })).statusCode).toBe(303);
  });

  test.each([
    ['/app/keys?cursor=x', '/app/keys?cursor=x'],
    ['//evil.example/app/', '/app/'],
    ['https://evil.example/', '/app/'],
    ['/app/../..//evil.example', '/app/'],
    ['/app/x\r\nset-cookie: a=b', '/app/xset-cookie:%20a=b'],
  ])('goes on to %j as %s', async (wanted, location) => {
    await comeIn();
    const answer = await signIn(at.visit(), {}, `/app/sign-in?${new URLSearchParams([['then', wanted]])}`);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, location]);
  });

  test('ends when it is said, and when the person is disabled', async () => {
    const { personId, session } = await comeIn();
    await comeIn('ben@example.com');
    const visit = at.visit(session);
    const answer = await visit.submit('/app/sign-out', {});
    expect([answer.headers.location, visit.cookies.has('evidence_session')]).toEqual(['/app/sign-in', false]);
    expect((await at.visit(session).get('/app/')).statusCode).toBe(303);
    const other = await at.place.signIn(ADA);
    await at.place.accounts.people.disable({ name: 'test', scopes: [] }, personId);
    expect((await at.visit(other).get('/app/')).statusCode).toBe(303);
  });
});

describe('a second factor', () => {
  test('is asked for once the password was right, and the session comes after it', async () => {
    await comeIn();
    const secret = await addFactor();
    const visit = at.visit();
    const first = await signIn(visit);
    expect([first.statusCode, visit.cookies.has('evidence_session')]).toEqual([200, false]);
    const csrf = /name="csrf" value="([^"]*)"/.exec(first.body)?.[1] ?? '';
    const ticket = ticketIn(first);
    const give = (code: string, more = {}) => visit.post('/app/sign-in/code', { csrf, ticket, code, ...more });
    const wrong = await give('000000');
    expect([wrong.statusCode, ticketIn(wrong)]).toEqual([401, ticket]);
    const code = at.place.codeOf(secret);
    expect((await give(code, { ticket: `${ticket.slice(0, -2)}AA` })).statusCode).toBe(401);
    expect((await give(`${code.slice(0, 3)} ${code.slice(3)}`)).statusCode).toBe(303);
    expect((await visit.get('/app/')).statusCode).toBe(200);
    // Each code works once.
    const again = at.visit();
    const second = await signIn(again);
    expect((await again.submit('/app/sign-in', { email: ADA, password: PASSWORD })).statusCode).toBe(200);
    const token = /name="csrf" value="([^"]*)"/.exec(second.body)?.[1] ?? '';
    const reused = await again.post('/app/sign-in/code', { csrf: token, ticket: ticketIn(second), code });
    expect(reused.statusCode).toBe(401);
  });

  test('is given with a ticket that is young, and of the password as it is', async () => {
    await comeIn();
    const secret = await addFactor();
    const { signIn: steps, credentials } = at.place.accounts;
    const ticketFor = async (password: string) => {
      const outcome = await steps.firstStep({ email: ADA, password, network: 'n' });
      return 'ticket' in outcome ? outcome.ticket : '';
    };
    const give = (ticket: string) => {
      at.place.now += MINUTE;
      return steps.secondStep({ ticket, network: 'n', code: at.place.codeOf(secret) });
    };
    const old = await ticketFor(PASSWORD);
    at.place.now += 4 * MINUTE;
    await expect(give(old)).rejects.toMatchObject({ code: 'not_signed_in', message: /sign-in has expired/ });
    const young = await ticketFor(PASSWORD);
    const session = await give(await ticketFor(PASSWORD));
    at.place.now += MINUTE;
    const next = 'another walk by the sea';
    await credentials.changePassword(session, 'n', { password: PASSWORD, code: at.place.codeOf(secret), next });
    await expect(give(young)).rejects.toMatchObject({ code: 'not_signed_in' });
    expect(await give(await ticketFor(next))).toHaveLength(43);
  });

  test('is not guessed by beginning anew: the password alone forgets no wrong code', async () => {
    await comeIn();
    await addFactor();
    const { signIn: steps } = at.place.accounts;
    const outcomes: string[] = [];
    for (let guess = 0; guess < 7; guess++) {
      const network = `n${guess}`;
      const guessed = steps
        .firstStep({ email: ADA, password: PASSWORD, network })
        .then((first) =>
          'ticket' in first ? steps.secondStep({ ticket: first.ticket, network, code: '000000' }) : '',
        );
      outcomes.push(await guessed.catch(({ code }) => code));
    }
    expect(outcomes).toEqual([...Array(5).fill('not_signed_in'), ...Array(2).fill('too_many_attempts')]);
  });

  test('that is lost is replaced by a recovery code, which is shown once and left out of the form', async () => {
    const { session } = await comeIn();
    const visit = at.visit(session);
    await visit.submit('/app/prove', { password: PASSWORD });
    const { body: offered } = await visit.get('/app/second-factor');
    const offer = /name="offer" value="([^"]*)"/.exec(offered)?.[1] ?? '';
    const csrf = csrfIn({ body: offered });
    const secret = at.place.accounts.secrets.open(
      Buffer.from(offer, 'base64url'),
      `second factor of ${(await at.place.accounts.sessions.require(session)).personId}`,
    );
    const added = await visit.post('/app/second-factor', { csrf, offer, code: at.place.codeOf(secret) });
    expect(titleOf(added)).toBe('Save your recovery codes');
    expect(added.headers['cache-control']).toContain('no-store');
    const codes = (/<pre id="codes"[^>]*>([^<]*)/.exec(added.body)?.[1] ?? '').split('\n');
    expect(codes).toHaveLength(10);
    expect((await visit.get('/app/account')).body).toContain('10 left');
    const lost = at.visit();
    const first = await signIn(lost);
    expect(first.body).toContain('Use a recovery code instead');
    const give = (recovery_code: string) =>
      lost.post('/app/sign-in/code', { csrf: csrfIn(first), ticket: ticketIn(first), code: '', recovery_code });
    const wrong = await give('aaaa-aaaa-aaaa-aaaa');
    expect([wrong.statusCode, wrong.body.includes('aaaa-aaaa')]).toEqual([401, false]);
    expect((await give(codes[0] ?? '')).statusCode).toBe(303);
    expect((await lost.get('/app/account')).body).toContain('9 left');
    const renewed = await lost.submit('/app/account/recovery-codes', {});
    expect(titleOf(renewed)).toBe('Your recovery codes');
    expect(renewed.body).not.toContain(codes[1]);
    at.place.now += 6 * MINUTE;
    expect((await lost.get('/app/account/recovery-codes')).headers.location).toContain('/app/prove');
  });

  test('is kept when its first code is right, for who was offered it alone', async () => {
    const { session } = await comeIn();
    const { session: other } = await comeIn('ben@example.com', 'auditor');
    const offered = async (token: string) => {
      const visit = at.visit(token);
      await visit.submit('/app/prove?then=/app/second-factor', { password: PASSWORD });
      const { body } = await visit.get('/app/second-factor');
      return { visit, offer: /name="offer" value="([^"]*)"/.exec(body)?.[1] ?? '', body };
    };
    const [ada, ben] = [await offered(session), await offered(other)];
    const stolen = await ada.visit.submit('/app/second-factor', { offer: ben.offer, code: '000000' });
    expect([stolen.statusCode, stolen.body.includes(ben.offer)]).toEqual([422, false]);
    expect(ada.body).toContain('class="code-picture" role="img"');
    expect(ada.body).not.toContain(PASSWORD);
  });
});

test('what lets others in is asked for again after five minutes, and nothing is done before', async () => {
  const { session } = await comeIn();
  const visit = at.visit(session);
  const input = { once: 'a', name: 'exporter', purpose: 'own', scopes: 'audit:read', expires_at: '' };
  const path = '/app/prove?then=%2Fapp%2Fkeys%2Fnew';
  expect((await visit.get('/app/keys/new')).headers.location).toBe(path);
  expect((await visit.submit(path, { password: 'wrong' })).statusCode).toBe(401);
  expect((await visit.submit(path, { password: PASSWORD })).headers.location).toBe('/app/keys/new');
  at.place.now += 4 * MINUTE;
  expect((await visit.submit('/app/keys/new', input)).statusCode).toBe(200);
  const csrf = (await at.place.accounts.sessions.find(session))?.csrf ?? '';
  at.place.now += MINUTE;
  const late = await visit.post('/app/keys/new', { csrf, ...input, once: 'b' });
  expect([late.statusCode, late.headers.location]).toEqual([303, path]);
  expect((await at.keys.list({ limit: 50 })).data).toHaveLength(1);
});

test('a form that is sent twice makes one key, and shows it once', async () => {
  const { session } = await comeIn();
  const visit = at.visit(session);
  await visit.submit('/app/prove', { password: PASSWORD });
  const send = () =>
    visit.submit('/app/keys/new', {
      once: 'one',
      name: HOSTILE,
      purpose: 'own',
      scopes: ['audit:read', 'keys:read'],
      expires_at: '2027-02-20T23:59:59.999Z',
    });
  const first = await send();
  const text = /id="key"[^>]*>(sk_\w+)</.exec(first.body)?.[1] ?? '';
  expect(text).toHaveLength(61);
  const second = await send();
  expect([second.statusCode, second.body.includes(text)]).toEqual([409, false]);
  const { data } = await at.keys.list({ limit: 50 });
  expect(data).toMatchObject([
    { name: HOSTILE, scopes: ['audit:read', 'keys:read'], expires_at: '2027-02-20T23:59:59.999Z' },
  ]);
  expect((await visit.get('/app/keys')).body).not.toContain(text);
});

test.each([
  [['audit:read', 'keys:read'], '/audit/streams/'],
  [['metrics:read'], '/metrics'],
  [['audit:write'], null],
])('a new key that may %j is shown with a call that it may make', async (scopes, call) => {
  const { session } = await comeIn();
  const visit = at.visit(session);
  await visit.submit('/app/prove', { password: PASSWORD });
  const input = { once: scopes.join(), name: 'program', purpose: 'own', scopes, expires_at: '' };
  const { body } = await visit.submit('/app/keys/new', input);
  expect(body).toContain('export EVIDENCE_API_KEY=');
  expect(/http:\/\/[^/\s]+(\/[a-z/]+)/.exec(body.slice(body.indexOf('export EVIDENCE_API_KEY=')))?.[1] ?? null).toBe(
    call,
  );
});

test.each([
  ['/app/set-up/TOKEN', 'set_up', {}],
  ['/app/invited/TOKEN', 'invite', { email: ADA, role: 'auditor' }],
  ['/app/confirm/TOKEN', 'confirm', { email: ADA, role: 'auditor' }],
] as const)(
  'the link %s is not used up by looking, makes one account, and is of no other use',
  async (path, purpose, content) => {
    if (purpose === 'confirm') await at.place.join('owner@example.com', 'owner');
    const token = await at.place.link(purpose, content);
    const own = path.replace('TOKEN', token);
    const others = ['set-up', 'invited', 'confirm', 'reset'].map((kind) => `/app/${kind}/${token}`);
    for (const other of others.filter((each) => each !== own))
      expect([other, (await at.visit().get(other)).statusCode]).toEqual([other, 410]);
    for (let look = 0; look < 2; look++) expect((await at.visit().get(own)).statusCode).toBe(200);
    const fields = { name: HOSTILE, email: ADA, password: PASSWORD };
    const visit = at.visit();
    expect((await visit.submit(own, { ...fields, password: 'short' })).statusCode).toBe(422);
    const made = await visit.submit(own, fields);
    expect([made.statusCode, made.headers.location]).toEqual([303, '/app/account']);
    const { body } = await visit.get('/app/account');
    expect(body.match(/<script/g)).toHaveLength(1);
    expect((await at.visit().get(own)).statusCode).toBe(410);
    expect((await at.visit().submit('/app/sign-in', { email: ADA, password: PASSWORD })).statusCode).toBe(303);
  },
);

/** Every link, with the fields that its page submits, and the advice of an expired link's page. */
const LINKS = [
  [
    '/app/set-up/',
    'set_up',
    { name: 'Ada', email: 'new@example.com' },
    'evidence-platform people set-up --data ./data',
  ],
  ['/app/confirm/', 'confirm', { name: 'Ada' }, 'href="/app/sign-up"'],
  ['/app/invited/', 'invite', { name: 'Ada' }, 'ask an owner of the platform'],
  ['/app/reset/', 'reset', {}, 'href="/app/forgot"'],
] as const;

test.each(LINKS)(
  'a link %s that is too old does nothing, and says how to get another',
  async (path, purpose, fields, way) => {
    const person_id = purpose === 'set_up' ? null : (await comeIn()).personId;
    const contents = { set_up: {}, reset: { person_id } } as Record<string, object>;
    const make = () => at.place.link(purpose, contents[purpose] ?? { email: 'new@example.com', role: 'auditor' });
    const [token, other] = [await make(), await make()];
    const visit = at.visit();
    const csrf = /name="csrf" value="([^"]*)"/.exec((await visit.get(path + token)).body)?.[1] ?? '';
    expect(csrf).not.toBe('');
    at.place.now += 24 * 60 * MINUTE - 1;
    expect((await visit.get(path + token)).statusCode).toBe(200);
    at.place.now += 1;
    const before = await written();
    const answers = [
      await visit.get(path + token),
      await visit.post(path + token, { csrf, ...fields, password: 'a longer walk by the sea' }),
      await visit.post(path + token, { csrf, ...fields, password: '' }),
      await visit.post(path + token, { csrf }),
      await at.visit().get(path + other),
      await visit.get(`${path}of-nobody`),
    ];
    const shown = ({ body }: { body: string }) => body.slice(body.indexOf('<main'), body.indexOf('</main'));
    for (const answer of answers) {
      expect([answer.statusCode, titleOf(answer)]).toEqual([410, 'This link is no longer valid']);
      expect([shown(answer), shown(answer).includes('<form')]).toEqual([shown(answers[0] ?? answer), false]);
      expect(answer.body).toContain(way);
    }
    expect(await written()).toEqual(before);
    expect([await at.place.post(), visit.cookies.has('evidence_session')]).toEqual([[], false]);
    await accountsTidyJob(at.place.database, () => new Date(at.place.now)).run();
    expect(shown(await visit.get(path + token))).toBe(shown(answers[0] ?? expect.unreachable()));
  },
);

/** Reads everything that joining and new passwords change. */
async function written() {
  const tables = ['people', 'links', 'sessions', 'outbox', 'entries', 'failed_attempts'];
  const { database } = at.place;
  const rowsOf = (table: string) => database.tables<Record<string, object>>().selectFrom(table).selectAll().execute();
  return Promise.all(tables.map(rowsOf));
}

test('signing up and a forgotten password say the same of every address', async () => {
  await comeIn();
  const pageFor = async (path: string, email: string) => {
    const { statusCode, body } = await at.visit().submit(path, { email });
    return [statusCode, body.replaceAll(email, 'ADDRESS')];
  };
  for (const path of ['/app/sign-up', '/app/forgot'])
    expect(await pageFor(path, 'nobody@example.com')).toEqual(await pageFor(path, ADA));
});

/** Every page, with its status for an owner, an operator, an auditor and a visitor. */
const ACCESS: readonly (readonly [path: string, ...statuses: number[]])[] = [
  ['/app', 200, 200, 200, 303],
  ['/app/sign-in', 200, 200, 200, 200],
  ['/app/sign-in/code', 303, 303, 303, 303],
  ['/app/sign-out', 200, 200, 200, 303],
  ['/app/prove', 200, 200, 200, 303],
  ['/app/sign-up', 200, 200, 200, 200],
  ['/app/forgot', 200, 200, 200, 200],
  ['/app/set-up/:token', 410, 410, 410, 410],
  ['/app/confirm/:token', 410, 410, 410, 410],
  ['/app/invited/:token', 410, 410, 410, 410],
  ['/app/reset/:token', 410, 410, 410, 410],
  ['/app/account', 200, 200, 200, 303],
  ['/app/account/recovery-codes', 200, 200, 200, 303],
  ['/app/account/sessions/:session_id/end', 404, 404, 404, 303],
  ['/app/account/sessions/end-others', 200, 200, 200, 303],
  ['/app/password', 200, 200, 200, 303],
  ['/app/second-factor', 200, 200, 200, 303],
  ['/app/second-factor/remove', 200, 200, 200, 303],
  ['/app/passkeys/new', 200, 200, 200, 303],
  ['/app/passkeys/:passkey_id/remove', 404, 404, 404, 303],
  ['/app/keys', 200, 200, 200, 303],
  ['/app/keys/:key_id', 200, 200, 200, 303],
  ['/app/keys/new', 200, 200, 403, 303],
  ['/app/keys/:key_id/rotate', 200, 200, 403, 303],
  ['/app/keys/:key_id/revoke', 200, 200, 403, 303],
  ['/app/keys/makers/:person_id/revoke', 200, 200, 403, 303],
  ['/app/people', 200, 403, 200, 303],
  ['/app/people/:person_id', 200, 403, 200, 303],
  ['/app/people/invite', 200, 403, 403, 303],
  ['/app/people/invitations/:link_id/send-again', 404, 403, 403, 303],
  ['/app/people/invitations/:link_id/withdraw', 404, 403, 403, 303],
  ['/app/people/sign-ups/:sign_up_id/approve', 404, 403, 403, 303],
  ['/app/people/sign-ups/:sign_up_id/decline', 404, 403, 403, 303],
  ['/app/people/:person_id/role', 200, 403, 403, 303],
  ['/app/people/:person_id/disable', 200, 403, 403, 303],
  ['/app/people/:person_id/enable', 200, 403, 403, 303],
  ['/app/people/:person_id/second-factor', 200, 403, 403, 303],
  ['/app/administration', 200, 200, 200, 303],
  ['/app/administration/messages/:message_id/replay', 200, 200, 403, 303],
];

test('every page is open to whom it is for, and its form does nothing for others', async () => {
  const paths = at.routes.filter((route) => route.startsWith('GET ')).map((route) => route.slice(4));
  const pages = paths.filter((path) => !/\/assets\/|\*/.test(path));
  expect(pages.toSorted()).toEqual(ACCESS.map(([path]) => path).toSorted());
  const { personId } = await comeIn();
  const { key } = await at.keys.make(
    { name: 'test', scopes: ['audit:read'] },
    { name: HOSTILE, scopes: ['audit:read'], expires_at: null },
  );
  const sessions: (string | undefined)[] = [];
  for (const role of ['owner', 'operator', 'auditor'] as const) {
    const { session } = await comeIn(`${role}@example.com`, role, HOSTILE);
    await at.visit(session).submit('/app/prove', { password: PASSWORD });
    sessions.push(session);
  }
  const statusesOf = async (path: string) => {
    const url = path.replace(':key_id', key.key_id).replace(':person_id', personId).replace(/:\w+/, 'x');
    const statuses: number[] = [];
    for (const session of [...sessions, undefined]) {
      const { statusCode, body } = await at.visit(session).get(url);
      expect(body.match(/<script/g) ?? [], path).toHaveLength(statusCode === 303 ? 0 : 1);
      statuses.push(statusCode);
    }
    return [path, ...statuses];
  };
  expect(await Promise.all(ACCESS.map(([path]) => statusesOf(path)))).toEqual(ACCESS);
  const auditor = at.visit(sessions[2]);
  const csrf = (await at.place.accounts.sessions.find(sessions[2] ?? ''))?.csrf ?? '';
  const acts = (await at.place.acts()).length;
  for (const [path, , , forAuditor] of ACCESS.filter(([, , , status]) => status === 403)) {
    const url = path.replace(':key_id', key.key_id).replace(':person_id', personId);
    const { statusCode } = await auditor.post(url, { csrf, role: 'owner', email: 'x@example.com', name: 'x' });
    expect([path, statusCode]).toEqual([path, forAuditor]);
  }
  expect((await at.place.acts()).length).toBe(acts);
});

test('who signed up waits, and is let in by an owner', async () => {
  const { session } = await comeIn();
  const database = at.place.database;
  const { session: auditor } = await comeIn('ben@example.com', 'auditor');
  at = await accountPagesOn(database, { signUp: 'approval' });
  const stranger = at.visit();
  expect((await stranger.get('/app/sign-up')).body).toContain('An owner then approves your account.');
  await stranger.submit('/app/sign-up', { email: 'cy@example.com' });
  const token = await at.place.mailedToken();
  const joiner = { name: HOSTILE, password: 'a river under the old bridge' };
  const confirmed = await stranger.submit(`/app/confirm/${token}`, joiner);
  expect([titleOf(confirmed), stranger.cookies.has('evidence_session')]).toEqual([
    'Your account waits for approval',
    false,
  ]);
  expect((await signIn(stranger, { email: 'cy@example.com', password: joiner.password })).statusCode).toBe(401);
  const visit = at.visit(session);
  expect((await at.visit(auditor).get('/app/people')).body).not.toContain('>Approve<');
  await visit.submit('/app/prove', { password: PASSWORD });
  const { body } = await visit.get('/app/people');
  expect(body).toContain('Waiting for approval');
  const path = /href="(\/app\/people\/sign-ups\/[^"]+\/approve)"/.exec(body)?.[1] ?? '';
  expect((await visit.submit(path, {})).headers.location).toBe('/app/people');
  expect((await visit.get(path)).statusCode).toBe(404);
  expect((await visit.get('/app/people')).body).not.toContain('Waiting for approval');
  expect((await signIn(stranger, { email: 'cy@example.com', password: joiner.password })).statusCode).toBe(303);
});

test.each(['%00', 'x'.repeat(5000), '%27%22%3E%3Cscript%3E', '%F0%9F%94%90', '..%2F..'])(
  'an id that is none is answered so: %s',
  async (id) => {
    const { session } = await comeIn();
    const visit = at.visit(session);
    await visit.submit('/app/prove', { password: PASSWORD });
    for (const [path] of ACCESS.filter(([each]) => each.includes('_id'))) {
      const { statusCode, headers, body } = await visit.get(path.replace(/:\w+/, id));
      // The page shows any message id; the platform looks the message up when it is retried.
      const expected = id === '%00' ? 422 : path.includes('message_id') ? 200 : 404;
      expect([path, statusCode, headers['content-type']]).toEqual([path, expected, 'text/html; charset=utf-8']);
      expect(body.match(/<script/g)).toHaveLength(1);
    }
  },
);

test('a message that was given up is seen, and tried again by who may', async () => {
  const { session } = await comeIn();
  const { session: auditor } = await comeIn('ben@example.com', 'auditor');
  const visit = at.visit(session);
  expect((await visit.get('/app/administration')).body).toContain('All messages were delivered');
  const invited = { email: 'cy@example.com', role: 'auditor' } as const;
  await at.place.accounts.invitations.invite({ name: 'test', scopes: SCOPES }, invited);
  await at.place.database.write((transaction) =>
    transaction.tables<JobTables>().updateTable('outbox').set({ status: 'dead', last_error: HOSTILE }).execute(),
  );
  const { body } = await visit.get('/app/administration');
  const path = /href="(\/app\/administration\/messages\/[^"]+)"/.exec(body)?.[1] ?? '';
  expect((await at.visit(auditor).get('/app/administration')).body).not.toContain('Try again');
  const answer = await visit.submit(path, {});
  expect(answer.headers.location).toBe('/app/administration');
  const after = (await visit.get('/app/administration')).body;
  expect(after).toContain('The message is queued again.');
  expect(after).toContain('Message replayed');
  expect((await visit.submit(path, {})).statusCode).toBe(404);
});

test('open invitations are seen with who invited, sent again and withdrawn by who may', async () => {
  const { personId, session } = await comeIn(ADA, 'owner', HOSTILE);
  const { session: auditor } = await comeIn('ben@example.com', 'auditor');
  const { invitations } = at.place.accounts;
  const visit = at.visit(session);
  expect((await visit.get('/app/people')).body).toContain('No open invitations.');
  const actor = { name: `person:${personId}`, scopes: SCOPES };
  const ids: string[] = [];
  for (let number = 10; number < 37; number++)
    ids.push((await invitations.invite(actor, { email: `${number}@x.example`, role: 'operator' })).link_id);
  await at.place.post();
  const emailsIn = (body: string) => [...new Set(body.match(/\d\d@x\.example/g))];
  const { body } = await visit.get('/app/people');
  const inviter = '<bdi>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;</bdi>';
  expect(body.slice(body.indexOf('Open invitations'))).toContain(inviter);
  const next = /href="(\/app\/people\?invitations=[^"]+)"/.exec(body)?.[1] ?? '';
  expect([emailsIn(body).length, emailsIn((await visit.get(next)).body).length]).toEqual([25, 2]);
  const acts = /\/people\/invitations\/[\w-]+\/(withdraw|send-again)/g;
  expect([body.match(acts)?.length, (await at.visit(auditor).get('/app/people')).body.match(acts)]).toEqual([50, null]);

  await visit.submit('/app/prove', { password: PASSWORD });
  const [again, gone] = ids.map((id) => `/app/people/invitations/${id}`);
  at.place.now += MINUTE;
  expect((await visit.submit(`${again}/send-again`, {})).headers.location).toBe('/app/people');
  expect((await visit.get('/app/people')).body).toContain('The invitation to 10@x.example is queued again.');
  expect((await at.place.post()).map(({ to }) => to)).toEqual(['10@x.example']);
  expect((await visit.submit(`${gone}/withdraw`, {})).headers.location).toBe('/app/people');
  expect((await visit.get('/app/people')).body).toContain('The invitation to 11@x.example was withdrawn.');
  expect((await invitations.list({ limit: 50 })).data.map(({ email }) => email)).not.toContain('11@x.example');
  for (const act of ['withdraw', 'send-again']) expect((await visit.get(`${gone}/${act}`)).statusCode).toBe(404);
});

test('the own account lists the sessions of the person alone, and ends one, or all others', async () => {
  const { personId, session } = await comeIn();
  const { session: ben } = await comeIn('ben@example.com');
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const other = at.visit(undefined, { 'user-agent': agent });
  await signIn(other);
  const visit = at.visit(session);
  const { body } = await visit.get('/app/account');
  expect(body).toContain('Firefox on Linux');
  expect(body).toContain('127.0.0.1');
  const paths = [...body.matchAll(/href="(\/app\/account\/sessions\/[\w-]+\/end)"/g)].map(([, path]) => path ?? '');
  // The account's first session and the other browser's can be ended; the present one cannot.
  expect([paths.length, body.match(/this one/g)?.length]).toEqual([2, 1]);
  const csrf = (await at.place.accounts.sessions.find(ben))?.csrf ?? '';
  for (const each of paths) {
    expect((await at.visit(ben).get(each)).statusCode).toBe(404);
    await at.visit(ben).post(each, { csrf });
  }
  const firefox = (await at.place.accounts.ownSessions.list(personId, session)).find(({ browser }) => browser);
  const path = `/app/account/sessions/${firefox?.session_id}/end`;
  expect(body).toContain(path);
  expect((await other.get('/app/')).statusCode).toBe(200);
  expect((await visit.submit(path, {})).headers.location).toBe('/app/account');
  expect((await other.get('/app/')).statusCode).toBe(303);
  await at.place.signIn(ADA);
  expect((await visit.submit('/app/account/sessions/end-others', {})).statusCode).toBe(303);
  const left = await at.place.accounts.ownSessions.list(personId, session);
  expect(left.map(({ isPresent }) => isPresent)).toEqual([true]);
  expect(await at.place.accounts.sessions.find(ben)).not.toBeNull();
  const acts = (await at.place.acts()).filter(({ action }) => action === 'sessions.ended');
  expect(acts).toMatchObject([
    { actor: `person:${personId}`, metadata: { count: 1 } },
    { actor: `person:${personId}`, metadata: { count: 2 } },
  ]);
});

test.each([
  ['Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0', 'Edge on Windows'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1 Version/18 Safari/605.1', 'Safari on macOS'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/140 Safari/604.1', 'Chrome on iOS'],
  ['<script>alert(1)</script>', 'another browser'],
  [undefined, 'another browser'],
])('a browser that calls itself %j is %s', (agent, words) => {
  expect(browserWords(agent)).toBe(words);
});
