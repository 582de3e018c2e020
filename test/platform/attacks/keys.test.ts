import { afterAll, beforeAll, test } from 'vitest';
import { createKey } from '../../../src/platform/accounts/key.ts';
import { SCOPES } from '../../../src/platform/scopes.ts';
import { call, entry, type Service, startService } from '../service.ts';
import { type Attack, expectRefused } from './attack.ts';
import { join } from './browser.ts';

/** Keys of a platform, by what they may do. */
interface Place extends Service {
  keys: Record<'maker' | 'recorder' | 'reader' | 'people' | 'revoked' | 'rotated', { key_id: string; api_key: string }>;
  people: Record<'owner' | 'auditor', string>;
}

type Who = keyof Place['keys'];

let place: Place;
beforeAll(async () => {
  const service = await startService();
  const make = async (body: object) => (await service.call('POST', '//keys/', { name: 'k', ...body })).body;
  const [revoked, rotated] = [await make({ preset: 'recorder' }), await make({ preset: 'recorder' })];
  await service.call('POST', `//keys/${revoked.key_id}/revoke`);
  await service.call('POST', `//keys/${rotated.key_id}/rotate`, { overlap_seconds: 0 });
  const keys = {
    maker: await make({ scopes: ['keys:read', 'keys:write', 'audit:read'] }),
    recorder: await make({ preset: 'recorder', streams: ['billing/*'], actor: 'billing' }),
    reader: await make({ preset: 'auditor' }),
    people: await make({ scopes: ['people:read', 'people:write'] }),
    revoked,
    rotated,
  };
  const owner = await join(service, 'ada@example.com', 'owner');
  const auditor = await join(service, 'ben@example.com');
  place = { ...service, keys, people: { owner: owner.personId, auditor: auditor.personId } };
  await service.call('POST', '/entries/', entry('other', 1));
});
afterAll(() => place.close());

/** Sends a request with the key of `who`. @param path from the origin. */
const send = (who: Who, method: string, path: string | ((at: Place) => string), body?: unknown, headers = {}) => {
  return ({ origin, keys }: Place) => {
    const to = typeof path === 'string' ? path : path(place);
    return call(origin, keys[who].api_key, method, to, body, headers);
  };
};
const make = (body: unknown) => send('maker', 'POST', '/keys/', body);
const NAME = { name: 'mine' };
const [FORBIDDEN, INVALID] = ['403 forbidden', '422 invalid_request'];

const GRANTS: readonly Attack<Place>[] = [
  ['a scope that it lacks', make({ ...NAME, scopes: ['audit:write'] }), FORBIDDEN],
  ['all scopes', make({ ...NAME, scopes: SCOPES }), FORBIDDEN],
  [
    'a scope that it lacks behind one that it has',
    make({ ...NAME, scopes: ['audit:read', 'people:write'] }),
    FORBIDDEN,
  ],
  ...['recorder', 'exporter', 'auditor', 'monitoring'].map(
    (preset): Attack<Place> => [`the preset ${preset}`, make({ ...NAME, preset }), FORBIDDEN],
  ),
  ['a limited scope that it lacks', make({ ...NAME, scopes: ['audit:write'], streams: ['x'], actor: 'y' }), FORBIDDEN],
  ['a scope in capitals', make({ ...NAME, scopes: ['AUDIT:WRITE'] }), INVALID],
  ['any scope', make({ ...NAME, scopes: ['*'] }), INVALID],
  ['two scopes in one text', make({ ...NAME, scopes: ['audit:read audit:write'] }), INVALID],
  ['no scope', make({ ...NAME, scopes: [] }), INVALID],
  ['scopes as an object', make({ ...NAME, scopes: { 0: 'audit:write', length: 1 } }), INVALID],
  ['a preset beside scopes', make({ ...NAME, preset: 'recorder', scopes: ['audit:read'] }), INVALID],
  ['a preset of objects', make({ ...NAME, preset: 'constructor' }), INVALID],
  ['neither a preset nor scopes', make(NAME), INVALID],
  ['limits for a key that reads', make({ ...NAME, scopes: ['audit:read'], streams: ['*'] }), INVALID],
  ...Object.entries({
    key_id: 'AAAAAAAA',
    sha256: createKey().sha256,
    lineage: 'AAAAAAAA',
    bound_to: 'endpoint:1',
    maker_id: null,
    rotated_from: 'AAAAAAAA',
    created_at: '2020-01-01T00:00:00.000Z',
    revoked_at: null,
    seal: 'f'.repeat(64),
    api_key: createKey().text,
  }).map(
    ([member, value]): Attack<Place> => [
      `the member ${member}`,
      make({ ...NAME, scopes: ['audit:read'], [member]: value }),
      INVALID,
    ],
  ),
  ['scopes of the prototype', make('{"name":"x","__proto__":{"scopes":["audit:write"]}}'), INVALID],
  ['scopes twice', make('{"name":"x","scopes":["audit:read"],"scopes":["audit:write"]}'), '422 ambiguous_json'],
  [
    'scopes twice, once escaped',
    make('{"name":"x","scopes":["audit:read"],"scope\\u0073":["audit:write"]}'),
    '422 ambiguous_json',
  ],
  ['an expiry in the past', make({ ...NAME, scopes: ['audit:read'], expires_at: '2020-01-01T00:00:00Z' }), INVALID],
  [
    'an expiry after all others',
    make({ ...NAME, scopes: ['audit:read'], expires_at: '+275760-09-13T00:00:00Z' }),
    INVALID,
  ],
];

test.each(GRANTS)('a key grants no other %s', (...attack) => expectRefused(place, attack));

const rotate =
  (of: Who | 'none', more = '/rotate') =>
  ({ keys }: Place) =>
    `/keys/${of === 'none' ? 'AAAAAAAA' : keys[of].key_id}${more}`;

const ROTATIONS: readonly Attack<Place>[] = [
  ['a key that may more', send('maker', 'POST', rotate('reader')), FORBIDDEN],
  ['a limited key that may more', send('maker', 'POST', rotate('recorder')), FORBIDDEN],
  ['itself without a scope for it', send('recorder', 'POST', rotate('recorder')), FORBIDDEN],
  ['itself to more scopes', send('maker', 'POST', rotate('maker'), { scopes: SCOPES }), INVALID],
  ['itself to no limits', send('maker', 'POST', rotate('maker'), { streams: null }), INVALID],
  ['itself for ever in two', send('maker', 'POST', rotate('maker'), { overlap_seconds: 1e9 }), INVALID],
  ['itself with an overlap below zero', send('maker', 'POST', rotate('maker'), { overlap_seconds: -1 }), INVALID],
  [
    'a key that was revoked',
    ({ call: as, keys }) => as('POST', `//keys/${keys.revoked.key_id}/rotate`),
    '409 key_ended',
  ],
  [
    'a key that was rotated',
    ({ call: as, keys }) => as('POST', `//keys/${keys.rotated.key_id}/rotate`),
    '409 key_ended',
  ],
  ['no key', send('maker', 'POST', rotate('none')), '404 not_found'],
  ['any key', send('maker', 'POST', '/keys/%25/rotate'), '404 not_found'],
  [
    'a key by two IDs',
    send('maker', 'POST', ({ keys }) => `/keys/${keys.maker.key_id},${keys.reader.key_id}/rotate`),
    '404 not_found',
  ],
];

test.each(ROTATIONS)('a key rotates not %s', (...attack) => expectRefused(place, attack));

const ACTS: readonly Attack<Place>[] = [
  ['lists keys without a scope for it', send('recorder', 'GET', '/keys/'), FORBIDDEN],
  [
    'makes keys without a scope for it',
    send('reader', 'POST', '/keys/', { ...NAME, scopes: ['audit:read'] }),
    FORBIDDEN,
  ],
  ['revokes keys without a scope for it', send('reader', 'POST', rotate('maker', '/revoke')), FORBIDDEN],
  [
    'revokes keys of a person without a scope for it',
    send('reader', 'POST', ({ people }) => `/keys/makers/${people.owner}/revoke`),
    FORBIDDEN,
  ],
  ['revokes keys of nobody', send('maker', 'POST', '/keys/makers/null/revoke'), '404 not_found'],
  ['revokes keys of everybody', send('maker', 'POST', '/keys/makers/%25/revoke'), '404 not_found'],
  ['posts by another method', send('maker', 'GET', '/keys/', undefined, { 'x-http-method-override': 'POST' }), '200'],
  ['posts by a parameter', send('maker', 'GET', '/keys/?_method=POST'), INVALID],
  ['deletes keys', send('maker', 'DELETE', rotate('reader', '')), '404 not_found'],
  ['opens the pages', ({ origin, apiKey }) => call(origin, apiKey, 'GET', '/app/keys'), '303'],
  [
    'makes keys on the pages',
    ({ origin, apiKey }) =>
      call(origin, apiKey, 'POST', '/app/keys/new', 'name=x', { 'content-type': 'application/x-www-form-urlencoded' }),
    '303',
  ],
  [
    'invites an owner',
    send('people', 'POST', '/people/invitations', { email: 'eve@evil.example', role: 'owner' }),
    FORBIDDEN,
  ],
  [
    'invites an auditor',
    send('people', 'POST', '/people/invitations', { email: 'eve@evil.example', role: 'auditor' }),
    FORBIDDEN,
  ],
  [
    'makes an owner',
    send('people', 'POST', ({ people }) => `/people/${people.auditor}/role`, { role: 'owner' }),
    FORBIDDEN,
  ],
  [
    'makes an owner an auditor',
    send('people', 'POST', ({ people }) => `/people/${people.owner}/role`, { role: 'auditor' }),
    FORBIDDEN,
  ],
  ['enables an owner', send('people', 'POST', ({ people }) => `/people/${people.owner}/enable`), FORBIDDEN],
  [
    'removes the second factor of an owner',
    send('people', 'POST', ({ people }) => `/people/${people.owner}/remove-second-factor`),
    FORBIDDEN,
  ],
  [
    'disables the last owner',
    send('people', 'POST', ({ people }) => `/people/${people.owner}/disable`),
    '409 conflict',
  ],
  [
    'gives a role that there is not',
    send('people', 'POST', ({ people }) => `/people/${people.auditor}/role`, { role: 'root' }),
    INVALID,
  ],
  ['reads metrics', send('recorder', 'GET', '/metrics'), FORBIDDEN],
];

test.each(ACTS)('a key %s in vain', (...attack) => expectRefused(place, attack));
