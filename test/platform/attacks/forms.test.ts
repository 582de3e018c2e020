import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';
import { type Attack, expectRefused, readValue } from './attack.ts';
import { Browser, inside, join, type Page } from './browser.ts';

/** Platform with an owner who has just proved to be herself, and whom the attacker makes send forms. */
interface Place extends Service {
  ada: Browser;
  ben: Browser;
  /** Person whom the forms would disable. */
  cyd: string;
}

let place: Place;
beforeAll(async () => {
  const service = await startService({ signUp: 'approval' });
  const [ada, ben, cyd] = [
    await join(service, 'ada@example.com', 'owner'),
    await join(service, 'ben@example.com'),
    await join(service, 'cyd@example.com', 'owner'),
  ];
  await inside(service, ({ database, accounts }) =>
    database.write((transaction) => accounts.sessions.prove(transaction, ada.session)),
  );
  const browsers = { ada: new Browser(service.origin, ada.session), ben: new Browser(service.origin, ben.session) };
  place = { ...service, ...browsers, cyd: cyd.personId };
  await place.ada.get(pathOf(place));
  await place.ben.get('/app/password');
});
afterAll(() => place.close());

const pathOf = ({ cyd }: Pick<Place, 'cyd'>) => `/app/people/${cyd}/disable`;

/** Sends the form that disables a person with Ada's session. */
const send = (
  fields: (at: Place) => readonly (readonly [string, string])[],
  headers: (at: Place) => Record<string, string> = () => ({}),
  more = '',
): Attack<Place>[1] => {
  return (at) =>
    at.ada.send(pathOf(at) + more, {
      method: 'POST',
      body: new URLSearchParams(fields(at).map(([name, value]): [string, string] => [name, value])),
      headers: headers(at),
    });
};
const csrf = (value: (at: Place) => string) => (at: Place) => [['csrf', value(at)]] as const;
const good = csrf(({ ada }) => ada.csrf);

/** Sends another type of body. */
const typed = (type: string, body: (token: string) => string): Attack<Place>[1] => {
  return (at) =>
    at.ada.send(pathOf(at), { method: 'POST', body: body(at.ada.csrf), headers: { 'content-type': type } });
};
const visitorToken = async ({ origin }: Service): Promise<string> => {
  const visitor = new Browser(origin);
  await visitor.get('/app/sign-in');
  return visitor.csrf;
};

const TOKENS: readonly Attack<Place>[] = [
  ['without a token', send(() => []), '403'],
  ['with an empty token', send(csrf(() => '')), '403'],
  ['with the token of another session', send(csrf(({ ben }) => ben.csrf)), '403'],
  [
    'with the token of a visitor',
    async (at) => {
      const token = await visitorToken(at);
      return send(csrf(() => token))(at);
    },
    '403',
  ],
  ['with a good token and another', send((at) => [...good(at), ['csrf', 'x']]), '403'],
  ['with another token and a good one', send((at) => [['csrf', 'x'], ...good(at)]), '403'],
  ['with a good token twice', send((at) => [...good(at), ...good(at)]), '403'],
  ['with a token in a list', send(({ ada }) => [['csrf[]', ada.csrf]]), '403'],
  ['with a token in capitals', send(csrf(({ ada }) => ada.csrf.toUpperCase())), '403'],
  ['with a token and a blank', send(csrf(({ ada }) => `${ada.csrf} `)), '403'],
  ['with a part of a token', send(csrf(({ ada }) => ada.csrf.slice(0, -1))), '403'],
  ['with the session as token', send(csrf(({ ada }) => ada.session)), '403'],
  ['with the digest of the session as token', send(csrf((at) => readValue(at, 'SELECT sha256 FROM sessions'))), '403'],
  [
    'with a token in a header',
    send(
      () => [],
      ({ ada }) => ({ 'x-csrf-token': ada.csrf }),
    ),
    '403',
  ],
  [
    'with a token in a cookie',
    send(
      () => [],
      ({ ada }) => ({ cookie: `evidence_session=${ada.session}; csrf=${ada.csrf}` }),
    ),
    '403',
  ],
  [
    'with a token in the query',
    (at) =>
      send(
        () => [],
        () => ({}),
        `?csrf=${at.ada.csrf}`,
      )(at),
    '403',
  ],
  ['with a token of a prototype', send(({ ada }) => [['__proto__[csrf]', ada.csrf]]), '403'],
];

test.each(TOKENS)('nobody makes an owner send a form %s', (...attack) => expectRefused(place, attack));

const from = (origin: (at: Place) => string) => send(good, (at) => ({ origin: origin(at) }));
const portOf = ({ origin }: Service) => new URL(origin).port;

const ORIGINS: readonly Attack<Place>[] = [
  ['another site', from(() => 'https://evil.example'), '403'],
  ['nowhere', from(() => 'null'), '403'],
  ['an empty origin', from(() => ''), '403'],
  ['another port', from(() => 'http://127.0.0.1:1'), '403'],
  ['the same host without its port', from(() => 'http://127.0.0.1'), '403'],
  ['another name of the host', from((at) => `http://localhost:${portOf(at)}`), '403'],
  ['a domain that begins alike', from((at) => `${at.origin}.evil.example`), '403'],
  ['a domain behind a user', from((at) => `http://127.0.0.1:${portOf(at)}@evil.example`), '403'],
  ['a domain that ends alike', from((at) => `http://evil-127.0.0.1:${portOf(at)}`), '403'],
  ['an extension', from(() => 'chrome-extension://abcdefghijklmnop'), '403'],
  ['a file', from(() => 'file://'), '403'],
  ['two origins', from((at) => `${at.origin} https://evil.example`), '403'],
];

test.each(ORIGINS)('nobody makes an owner send a form from %s', (...attack) => expectRefused(place, attack));

const TYPES: readonly Attack<Place>[] = [
  ['JSON', typed('application/json', (token) => JSON.stringify({ csrf: token })), '415'],
  ['text', typed('text/plain', (token) => `csrf=${token}`), '415'],
  ['JSON as text', typed('text/plain', (token) => `{"csrf":"${token}","x":"="}`), '415'],
  [
    'parts',
    typed(
      'multipart/form-data; boundary=x',
      (token) => `--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n${token}\r\n--x--\r\n`,
    ),
    '415',
  ],
  ['XML', typed('application/xml', (token) => `<csrf>${token}</csrf>`), '415'],
  [
    'a form in another encoding',
    typed('application/x-www-form-urlencoded; charset=utf-16', (token) => `csrf=${token}x`),
    '403',
  ],
  ['70,000 bytes', send((at) => [...good(at), ['x', 'x'.repeat(70_000)]]), '413'],
];

test.each(TYPES)('nobody makes an owner send a form as %s', (...attack) => expectRefused(place, attack));

const METHODS: readonly Attack<Place>[] = [
  ['GET', (at) => at.ada.get(`${pathOf(at)}?csrf=${at.ada.csrf}`), '200'],
  ['HEAD', (at) => at.ada.send(`${pathOf(at)}?csrf=${at.ada.csrf}`, { method: 'HEAD' }), '200'],
  ['GET that says POST', (at) => at.ada.get(`${pathOf(at)}?_method=POST`, { 'x-http-method-override': 'POST' }), '200'],
  ...['PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(
    (method): Attack<Place> => [method, (at) => at.ada.send(pathOf(at), { method }), '403'],
  ),
];

test.each(METHODS)('nobody disables a person by %s', (...attack) => expectRefused(place, attack));

const byBen = (path: string | ((at: Place) => string), fields: Record<string, string> = {}): Attack<Place>[1] => {
  return (at) => at.ben.post(typeof path === 'string' ? path : path(at), fields);
};
const ROLE = { role: 'owner' };

const RIGHTS: readonly Attack<Place>[] = [
  [
    'makes himself an owner',
    byBen((at) => `/app/people/${readValue(at, "SELECT person_id FROM people WHERE email LIKE 'ben%'")}/role`, ROLE),
    '403',
  ],
  ['disables an owner', byBen(pathOf), '403'],
  ['enables a person', byBen(({ cyd }) => `/app/people/${cyd}/enable`), '403'],
  ['removes the second factor of an owner', byBen(({ cyd }) => `/app/people/${cyd}/second-factor`), '403'],
  ['invites an owner', byBen('/app/people/invite', { email: 'eve@evil.example', ...ROLE }), '403'],
  ['makes a key', byBen('/app/keys/new', { name: 'x', preset: 'auditor' }), '403'],
  ['revokes a key', byBen((at) => `/app/keys/${readValue(at, 'SELECT key_id FROM api_keys')}/revoke`), '403'],
  ['rotates a key', byBen((at) => `/app/keys/${readValue(at, 'SELECT key_id FROM api_keys')}/rotate`), '403'],
  ['revokes the keys of an owner', byBen(({ cyd }) => `/app/keys/makers/${cyd}/revoke`), '403'],
  ['lets in who waits', byBen('/app/people/sign-ups/x/approve'), '403'],
  [
    'ends the session of an owner',
    byBen(
      (at) =>
        `/app/account/sessions/${readValue(at, `SELECT session_id FROM sessions WHERE person_id = (SELECT person_id FROM people WHERE email LIKE 'ada%')`)}/end`,
    ),
    '303',
  ],
  ['removes the passkey of another', byBen('/app/passkeys/x/remove'), '303'],
  ['makes recovery codes without a recent sign-in', byBen('/app/account/recovery-codes'), '303'],
  ['adds an authenticator without a recent sign-in', byBen('/app/second-factor', { code: '000000' }), '303'],
];

describe('an auditor', () => {
  test.each(RIGHTS)('%s in vain', (...attack) => expectRefused(place, attack));

  test('sees no token of another page in what they typed', async () => {
    const { text } = await place.ben.post('/app/password', {
      password: 'wrong one, quite',
      next_password: 'short',
      code: '1',
    });
    expect(text).not.toContain('wrong one, quite');
  });
});

test('an owner who sends the form of the page disables the person', async () => {
  const answer: Page = await place.ada.submit(pathOf(place), {}, { origin: place.origin });
  expect(answer.status).toBe(303);
  expect(readValue(place, `SELECT disabled_at FROM people WHERE person_id = '${place.cyd}'`)).not.toBe('null');
});
