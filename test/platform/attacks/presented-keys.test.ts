import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, type Service, startService } from '../service.ts';
import { type Attack, expectRefused, readValue, refusalOf, sendRaw } from './attack.ts';

const NOT_KNOWN = '401 unauthenticated';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Asks for a list with these headers only. */
async function ask(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(service.url + path, { headers });
  return { status: answer.status, body: (await answer.json()) as { code?: string } };
}

const withHeader = (name: string, value: (key: string) => string): Attack[1] => {
  return ({ apiKey }) => ask('/streams/', { [name]: value(apiKey) });
};
const asBearer = (value: (key: string) => string) => withHeader('authorization', (key) => `Bearer ${value(key)}`);
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Sends a request with these header lines. */
const raw = (lines: (key: string) => readonly string[]): Attack[1] => {
  return ({ origin, apiKey }) =>
    sendRaw(origin, `${['GET /audit/streams/ HTTP/1.1', 'Host: x', ...lines(apiKey)].join('\r\n')}\r\n\r\n`);
};

const ELSEWHERE: readonly Attack[] = [
  ...['api_key', 'apikey', 'key', 'access_token', 'authorization', 'token', 'bearer'].map(
    (name): Attack => [`in the query as ${name}`, ({ apiKey }) => ask(`/streams/?${name}=${apiKey}`), NOT_KNOWN],
  ),
  ...['x-api-key', 'api-key', 'x-auth-token', 'proxy-authorization', 'x-forwarded-authorization', 'x-access-token'].map(
    (name): Attack => [`in the header ${name}`, withHeader(name, (key) => `Bearer ${key}`), NOT_KNOWN],
  ),
  ['as a session cookie', withHeader('cookie', (key) => `evidence_session=${key}`), NOT_KNOWN],
  ['as a cookie of its own name', withHeader('cookie', (key) => `authorization=Bearer ${key}`), NOT_KNOWN],
  ['as a user name', withHeader('authorization', (key) => `Basic ${base64(`${key}:`)}`), NOT_KNOWN],
  ['as a password', withHeader('authorization', (key) => `Basic ${base64(`:${key}`)}`), NOT_KNOWN],
  ['with another scheme', withHeader('authorization', (key) => `Token ${key}`), NOT_KNOWN],
  ['without a scheme', withHeader('authorization', (key) => key), NOT_KNOWN],
  ['after a scheme with a prefix', withHeader('authorization', (key) => `XBearer ${key}`), NOT_KNOWN],
  ['after a tab', withHeader('authorization', (key) => `Bearer\t${key}`), NOT_KNOWN],
  ['after a space that does not break', withHeader('authorization', (key) => `Bearer\u00a0${key}`), NOT_KNOWN],
  ['after another key', withHeader('authorization', (key) => `Bearer x, Bearer ${key}`), NOT_KNOWN],
  ['in quotes', asBearer((key) => `"${key}"`), NOT_KNOWN],
  ['as a parameter', asBearer((key) => `token="${key}"`), NOT_KNOWN],
  ['in base64', asBearer(base64), NOT_KNOWN],
  [
    'in the second of two headers',
    raw((key) => ['Authorization: Bearer x', `Authorization: Bearer ${key}`]),
    NOT_KNOWN,
  ],
  ['in a folded header', raw((key) => ['X-Other: 1', ` Authorization: Bearer ${key}`]), '400 bad_request'],
  ['in a header with a space in its name', raw((key) => [`Authorization : Bearer ${key}`]), '400 bad_request'],
  ['in a header with an underscore', raw((key) => [`Authorization_: Bearer ${key}`]), NOT_KNOWN],
];

test.each(ELSEWHERE)('a good key is none %s', (...attack) => expectRefused(service, attack));

const flipped = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

const OTHERS: readonly Attack[] = [
  ['in lower case', asBearer((key) => key.toLowerCase()), NOT_KNOWN],
  ['in upper case', asBearer((key) => key.toUpperCase()), NOT_KNOWN],
  ['with a character too many', asBearer((key) => `${key}0`), NOT_KNOWN],
  ['without its last character', asBearer((key) => key.slice(0, -1)), NOT_KNOWN],
  ['with a secret that differs in one character', asBearer((key) => flipped(key, 20)), NOT_KNOWN],
  ['with another checksum', asBearer((key) => flipped(key, key.length - 1)), NOT_KNOWN],
  ['with its encoded underscore', asBearer((key) => key.replace('_', '%5f')), NOT_KNOWN],
  ['with a wildcard for its secret', asBearer((key) => `${key.slice(0, 12)}%`), NOT_KNOWN],
  ['with a quotation mark', asBearer((key) => `${key}'--`), NOT_KNOWN],
  ['by its ID alone', asBearer((key) => key.split('_')[1] ?? ''), NOT_KNOWN],
  ['twice in a row', asBearer((key) => key + key), NOT_KNOWN],
  ['as undefined', asBearer(() => 'undefined'), NOT_KNOWN],
  ['as null', asBearer(() => 'null'), NOT_KNOWN],
  ['as a JWT without a signature', asBearer(() => `${base64('{"alg":"none"}')}.${base64('{}')}.`), NOT_KNOWN],
  ['of 30,000 characters', asBearer(() => 'sk_'.padEnd(30_000, 'A')), NOT_KNOWN],
  ['after 30,000 spaces', withHeader('authorization', () => `Bearer${' '.repeat(30_000)}x y`), NOT_KNOWN],
  [
    'by the digest in the database',
    (place) => ask('/streams/', { authorization: `Bearer ${readValue(place, 'SELECT sha256 FROM api_keys')}` }),
    NOT_KNOWN,
  ],
  [
    'by the digest after the ID',
    (place) => {
      const row = readValue(place, "SELECT key_id || '_' || sha256 FROM api_keys");
      return ask('/streams/', { authorization: `Bearer sk_${row}` });
    },
    NOT_KNOWN,
  ],
];

test.each(OTHERS)('what is no key is none %s', (...attack) => expectRefused(service, attack));

const ROUTES: readonly Attack[] = [
  ['by the path of another header', () => ask('/streams/', { 'x-original-url': '/health' }), NOT_KNOWN],
  ['by a rewritten path', () => ask('/streams/', { 'x-rewrite-url': '/health' }), NOT_KNOWN],
  [
    'as a sender inside',
    () => ask('/streams/', { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' }),
    NOT_KNOWN,
  ],
  ['behind a public path', ({ origin }) => call(origin, 'x', 'GET', '/health/../audit/streams/'), NOT_KNOWN],
  [
    'behind an encoded public path',
    ({ origin }) => call(origin, 'x', 'GET', '/health/%2e%2e/audit/streams/'),
    NOT_KNOWN,
  ],
  ['by a path in capitals', ({ origin }) => call(origin, 'x', 'GET', '/AUDIT/streams/'), NOT_KNOWN],
  ['by two slashes', ({ origin }) => call(origin, 'x', 'GET', '//audit//streams/'), NOT_KNOWN],
  ['by a semicolon', ({ origin }) => call(origin, 'x', 'GET', '/audit/streams;/public/'), NOT_KNOWN],
  ['by the description of the API', () => ask('/openapi.json/../streams/'), NOT_KNOWN],
  [
    'by a HEAD request',
    async () => ({ status: (await fetch(`${service.url}/streams/`, { method: 'HEAD' })).status }),
    '401',
  ],
  [
    'by an absolute path on a request line',
    ({ origin }) => sendRaw(origin, `GET http://x/audit/streams/ HTTP/1.1\r\nHost: x\r\n\r\n`),
    NOT_KNOWN,
  ],
];

test.each(ROUTES)('nobody comes in without a key %s', (...attack) => expectRefused(service, attack));

test('a key that is long gone costs no longer than one that never was', async () => {
  const started = performance.now();
  const answers = [];
  for (let time = 0; time < 20; time++)
    answers.push(await ask('/streams/', { authorization: `Bearer ${'A'.repeat(60_000)}` }));
  expect(new Set(answers.map(refusalOf))).toEqual(new Set([NOT_KNOWN]));
  expect(performance.now() - started).toBeLessThan(5000);
});
