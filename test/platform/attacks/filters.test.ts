import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, call, entry, fill, type Service, startService } from '../service.ts';
import { refusalOf } from './attack.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  await fill(service, 's', 30);
  await service.call(
    'POST',
    '/entries/',
    entry('secret', 1, { actor: '%_\\', metadata: { 'a:b': 'x', note: 'needle %' } }),
  );
});
afterAll(() => service.close());

const list = (query: string): Promise<Answer> => service.call('GET', `/entries/?${query}`);
const of = (value: string | Record<string, string>) => new URLSearchParams(value).toString();
const cursor = (...position: unknown[]) => Buffer.from(JSON.stringify(position)).toString('base64url');
const [INVALID, CURSOR] = ['422 invalid_request', '422 invalid_cursor'];

const REFUSED: readonly (readonly [name: string, query: string, refusal: string])[] = [
  ['a cursor of text', 'cursor=x', CURSOR],
  ['an empty cursor', 'cursor=', CURSOR],
  ['a cursor of another list', `cursor=${cursor('streams', 's')}`, CURSOR],
  ['a cursor of one stream', `cursor=${cursor('entries of s', 'oldest', 1)}`, CURSOR],
  ['a cursor of another order', `cursor=${cursor('entries', 'newest', 1)}`, CURSOR],
  ['a cursor with a text for a number', `cursor=${cursor('entries', 'oldest', '1')}`, CURSOR],
  ['a cursor with a fraction', `cursor=${cursor('entries', 'oldest', 1.5)}`, CURSOR],
  ['a cursor with a huge number', `cursor=${cursor('entries', 'oldest', 1e300)}`, CURSOR],
  ['a cursor with an object', `cursor=${cursor('entries', 'oldest', { toString: 1 })}`, CURSOR],
  ['a cursor with statements', `cursor=${cursor('entries', 'oldest', '1; DROP TABLE entries')}`, CURSOR],
  ['a cursor with more than it has', `cursor=${cursor('entries', 'oldest', 1, 2)}`, CURSOR],
  ['a cursor of a deep list', `cursor=${Buffer.from('['.repeat(20_000)).toString('base64url')}`, CURSOR],
  ['a cursor that is an object', `cursor=${Buffer.from('{"length":3}').toString('base64url')}`, CURSOR],
  ['two cursors', `cursor=${cursor('entries', 'oldest', 1)}&cursor=${cursor('entries', 'oldest', 1)}`, INVALID],
  ['no limit', 'limit=', INVALID],
  ['a limit of 0', 'limit=0', INVALID],
  ['a limit below 0', 'limit=-1', INVALID],
  ['a limit above all', 'limit=501', INVALID],
  ['a limit in hexadecimal', 'limit=0x10', INVALID],
  ['a limit with an exponent', 'limit=1e2', INVALID],
  ['a limit in other digits', of({ limit: '\u0661\u0660' }), INVALID],
  ['a limit of a list', 'limit=1&limit=2', INVALID],
  ['an order by a statement', of({ order: 'oldest; DROP TABLE entries' }), INVALID],
  ['an order of a column', 'order=seal', INVALID],
  ['a filter by the seal', 'seal=x', INVALID],
  ['a filter by the recorder', 'recorded_by=platform', INVALID],
  ['a filter by a nested member', 'actor[$ne]=x', INVALID],
  ['a filter of the prototype', '__proto__[actor]=x', INVALID],
  ['two actors', 'actor=a&actor=b', INVALID],
  ['51 streams', Array.from({ length: 51 }, (_, at) => `stream_id=${at}`).join('&'), INVALID],
  ['U+0000 in a filter', 'actor=%00', INVALID],
  ['a number after all', 'after_sequence=99999999999999999', INVALID],
  ['a number below 0', 'after_sequence=-1', INVALID],
  ['a time that there is not', of({ from: '2026-02-30T00:00:00Z' }), INVALID],
  ['a time of a statement', of({ from: "2026-01-01T00:00:00Z' OR 1=1" }), INVALID],
  ['a time without a zone', of({ from: '2026-01-01T00:00:00' }), INVALID],
  ['a year of six digits', of({ from: '+202601-01-01T00:00:00Z' }), INVALID],
  ['a search for nothing', 'q=', INVALID],
  ['a search for signs', of({ q: '%_*?' }), INVALID],
  ['a search of 257 characters', of({ q: 'x'.repeat(257) }), INVALID],
  ['a search for two', 'q=a&q=b', INVALID],
  ['a member without a name', of({ metadata: ':x' }), INVALID],
  ['a member without a colon', of({ metadata: 'x' }), INVALID],
  ['a member of 513 characters', of({ metadata: `a:${'x'.repeat(512)}` }), INVALID],
];

test.each(REFUSED)('a list is refused for %s', async (_name, query, refusal) => {
  expect(refusalOf(await list(query))).toBe(refusal);
});

/** Searches that would find entries if their signs meant anything to the database. */
const EMPTY: readonly (readonly [name: string, query: string])[] = [
  ['any actor', of({ actor: '%' })],
  ['an actor of any characters', of({ actor: 'actor__' })],
  ['an actor by a glob', of({ actor: 'actor-*' })],
  ['an actor by an expression', of({ actor: 'actor-[0-9]' })],
  ['an actor or all', of({ actor: "x' OR '1'='1" })],
  ['an actor and more', of({ actor: "actor-1' --" })],
  ['an actor in capitals', of({ actor: 'ACTOR-1' })],
  ['an actor by a blank', of({ actor: 'actor-1 ' })],
  ['any stream', of({ stream_id: '%' })],
  ['a stream by its number', of({ stream_id: '2' })],
  ['any member', of({ metadata: '%:%' })],
  ['a member by a part of its name', of({ metadata: 'umber:3' })],
  ['a member by a part of its value', of({ metadata: 'number:' })],
  ['a member by its JSON', of({ metadata: 'number":3' })],
  ['a member with its end', of({ metadata: 'number:3}' })],
  ['a member of a text that looks like one', of({ metadata: 'note:needle' })],
  ['a word by its beginning', of({ q: 'need' })],
  ['a word by a glob', of({ q: 'needl*' })],
  ['a word or another', of({ q: 'nothing OR needle' })],
  ['a word in a column', of({ q: 'metadata:needle' })],
  ['a word near another', of({ q: 'NEAR(needle x)' })],
  ['the end before the beginning', of({ from: '2030-01-01T00:00:00Z', to: '2020-01-01T00:00:00Z' })],
  ['a position after all', `cursor=${cursor('entries', 'oldest', Number.MAX_SAFE_INTEGER)}`],
];

test.each(EMPTY)('a list finds nothing by %s', async (_name, query) => {
  const { status, body } = await list(query);
  expect([status, body.data]).toEqual([200, []]);
});

test.each([
  ['q', of({ q: 'a '.repeat(128) })],
  [
    'q with many words',
    of({ q: Array.from({ length: 128 }, (_, at) => String.fromCharCode(97 + (at % 26))).join('-') }),
  ],
  ['q with marks', of({ q: `a${'\u0301'.repeat(255)}` })],
  ['metadata', of({ metadata: `${'a'.repeat(255)}:${'1.'.repeat(100)}` })],
  ['metadata of digits', of({ metadata: `a:${'1e'.repeat(200)}x` })],
  ['actor', of({ actor: 'x'.repeat(20_000) })],
  ['50 streams', Array.from({ length: 50 }, (_, at) => `stream_id=${'x'.repeat(200)}${at}`).join('&')],
])('a list by a long %s is soon done', async (_name, query) => {
  const began = performance.now();
  expect((await list(query)).status).toBe(200);
  expect(performance.now() - began).toBeLessThan(3000);
});

describe('other lists', () => {
  const OTHERS = [
    '/streams/',
    '//keys/',
    '//people/',
    '//people/sign-ups',
    '//people/invitations',
    '//administration/acts',
    '//administration/dead-letters',
  ];
  test.each(OTHERS)('%s takes no cursor of another, or of nobody', async (path) => {
    const texts = [cursor('x', 1), cursor('entries', 'oldest', 1), cursor('keys'), 'x', cursor('people', null)];
    for (const text of texts) expect(refusalOf(await service.call('GET', `${path}?cursor=${text}`))).toBe(CURSOR);
  });

  test.each([
    ['keys', cursor('keys', '9999', '')],
    ['people', cursor('people', '')],
    ['streams', cursor('streams', '')],
  ])('%s by a forged cursor are those that one may see anyway', async (name, forged) => {
    const path = name === 'streams' ? '/streams/' : `//${name}/`;
    const [all, seen] = [await service.call('GET', path), await service.call('GET', `${path}?cursor=${forged}`)];
    expect(seen.body.data).toEqual(all.body.data);
  });

  test.each(['%', "' OR 1=1 --", '\u{10ffff}', 'S'])('no stream begins with %j', async (begin) => {
    const { status, body } = await service.call('GET', `/streams/?${of({ begins_with: begin })}`);
    expect([status, body.data]).toEqual([200, []]);
  });

  test.each(['%', '_', "' OR 1=1", 'null'])('no person made keys as %j', async (maker_id) => {
    const { status, body } = await service.call('GET', `//keys/?${of({ maker_id })}`);
    expect([status, body.data]).toEqual([200, []]);
  });
});

test('a key without audit:read lists nothing', async () => {
  const { api_key } = (await service.call('POST', '//keys/', { name: 'k', preset: 'recorder' })).body;
  const paths = ['/entries/', '/streams/', '/stats/', '/streams/s', '/entries/?stream_id=s&limit=1'];
  for (const path of paths) expect(refusalOf(await call(service.url, api_key, 'GET', path))).toBe('403 forbidden');
});
