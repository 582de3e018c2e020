import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, call, entry, type Service, startService } from '../service.ts';
import { type Attack, expectRefused } from './attack.ts';

/** Platform with keys that append. */
interface Place extends Service {
  keys: Record<Who, { key_id: string; api_key: string }>;
}

type Who = 'recorder' | 'revoked' | 'rotated';

let place: Place;
beforeAll(async () => {
  const service = await startService();
  const make = async (body: object) => (await service.call('POST', '//keys/', { name: 'k', ...body })).body;
  const recorder = await make({ preset: 'recorder', streams: ['billing/*'], actor: 'billing' });
  const [revoked, rotated] = [await make({ preset: 'recorder' }), await make({ preset: 'recorder' })];
  await service.call('POST', `//keys/${revoked.key_id}/revoke`);
  await service.call('POST', `//keys/${rotated.key_id}/rotate`, { overlap_seconds: 0 });
  place = { ...service, keys: { recorder, revoked, rotated } };
  for (const stream of ['other', 'Straße/ops', 'payments-1']) await service.call('POST', '/entries/', entry(stream, 1));
});
afterAll(() => place.close());

const send = (who: Who, method: string, path: string, body?: unknown): Attack<Place>[1] => {
  return ({ origin, keys }) => call(origin, keys[who].api_key, method, path, body);
};
const [FORBIDDEN, INVALID, ALIKE] = ['403 forbidden', '422 invalid_request', '409 stream_resembles'];

const append = (more: object, path = '/audit/entries/') =>
  send('recorder', 'POST', path, { ...entry('billing/1', 1), actor: 'billing', ...more });
const batch = (...entries: object[]) =>
  send('recorder', 'POST', '/audit/entries/batch', {
    entries: entries.map((each) => ({ ...entry('billing/1', 1), actor: 'billing', ...each })),
  });
const stream = (stream_id: string) => append({ stream_id });
const LIMITS: readonly Attack<Place>[] = [
  ['to another stream', stream('other'), FORBIDDEN],
  ['to the stream of its prefix', stream('billing'), FORBIDDEN],
  ['to its streams in capitals', stream('Billing/1'), FORBIDDEN],
  ['to its streams after a space', stream(' billing/1'), FORBIDDEN],
  ['to its streams after a space of no width', stream('\u200bbilling/1'), FORBIDDEN],
  ['to its streams in wide letters', stream('\uff42illing/1'), FORBIDDEN],
  ['to its streams with a Cyrillic letter', stream('b\u0456lling/1'), FORBIDDEN],
  ['to a stream that contains its own', stream('x/billing/1'), FORBIDDEN],
  ['to a stream after a line break', stream('x\nbilling/1'), FORBIDDEN],
  ['to streams of the platform', stream('platform/administration'), INVALID],
  ['to streams of the platform by look', stream('platform\u2215administration'), INVALID],
  ['to two streams', append({ stream_id: ['billing/1', 'other'] }), INVALID],
  ['as another actor', append({ actor: 'root' }), FORBIDDEN],
  ['as its actor in capitals', append({ actor: 'Billing' }), FORBIDDEN],
  ['as its actor after a space', append({ actor: ' billing' }), FORBIDDEN],
  ['as its actor with a mark', append({ actor: 'billing\u0301' }), FORBIDDEN],
  ['as its actor and another', append({ actor: ['billing', 'root'] }), INVALID],
  ['with another recorder', append({ recorded_by: 'platform' }), INVALID],
  ['with a time of its own', append({ timestamp: '2020-01-01T00:00:00.000Z' }), INVALID],
  ['with a hash of its own', append({ hash: 'f'.repeat(64) }), INVALID],
  ['with a number of its own', append({ sequence: 1 }), INVALID],
  ['a rotation of keys', append({ action: 'key.rotated', resource_type: 'seal_key' }), INVALID],
  ['a correction of the clock', append({ action: 'clock.corrected', resource_type: 'clock' }), INVALID],
  ['in a batch, one to another stream', batch({}, { stream_id: 'other' }), FORBIDDEN],
  ['in a batch, one as another actor', batch({}, { actor: 'root' }), FORBIDDEN],
  ['in a batch, one to a stream of the platform', batch({}, { stream_id: 'platform/x' }), INVALID],
  ['a checkpoint of another stream', send('recorder', 'POST', '/audit/streams/other/checkpoints'), FORBIDDEN],
  ['a check', send('recorder', 'POST', '/audit/streams/other/verify'), FORBIDDEN],
  ['a package', send('recorder', 'POST', '/audit/evidence/generate', { stream_id: 'billing/1' }), FORBIDDEN],
  ['with a key that was revoked', send('revoked', 'POST', '/audit/entries/', entry('billing/1', 1)), '401 key_revoked'],
  ['with a key that was rotated', send('rotated', 'POST', '/audit/entries/', entry('billing/1', 1)), '401 key_expired'],
];

test.each(LIMITS)('a limited key appends not %s', (...attack) => expectRefused(place, attack));

const like =
  (stream_id: string): Attack<Place>[1] =>
  ({ call: as }) =>
    as('POST', '/entries/', entry(stream_id, 1));

const LOOKS: readonly Attack<Place>[] = [
  ['the record of the platform, by a division slash', like('platform\u2215administration'), INVALID],
  ['the record of the platform, by a fraction slash', like('platform\u2044administration'), INVALID],
  ['the record of the platform, by a Cyrillic letter', like('pl\u0430tform/administration'), INVALID],
  ['the record of the platform, by a Greek letter', like('platf\u03bfrm/administration'), INVALID],
  ['the record of the platform, by wide letters', like('ｐｌａｔｆｏｒｍ/x'), INVALID],
  ['the record of the platform, by mathematical letters', like('𝐩𝐥𝐚𝐭𝐟𝐨𝐫𝐦/administration'), INVALID],
  ['the record of the platform, from right to left', like('\u202eplatform/administration'), INVALID],
  ['the record of the platform, by a soft hyphen', like('plat\u00adform/administration'), INVALID],
  ['the record of the platform, by a variation', like('platform\ufe0f/administration'), INVALID],
  ['the record of the platform, by a tag', like('platform\u{e0061}/administration'), INVALID],
  ['the record of the platform, by a filler', like('platform\u3164/administration'), INVALID],
  ['the record of the platform, by a Kelvin sign', like('PLATFORM/x\u212a'), INVALID],
  ['another, by a Cyrillic letter', like('p\u0430yments-1'), ALIKE],
  ['another, by a Cyrillic capital', like('PAY\u041cENTS-1'), ALIKE],
  ['another, by a Greek capital', like('\u03a1AYMENTS-1'), ALIKE],
  ['another, by a hyphen', like('payments\u20101'), ALIKE],
  ['another, by a dash', like('payments\u20131'), ALIKE],
  ['another, by a minus sign', like('payments\u22121'), ALIKE],
  ['another, by a superscript', like('payments-\u00b9'), ALIKE],
  ['another, by two letters for one', like('STRASSE/ops'), ALIKE],
  ['another, by a capital sharp s', like('Stra\u1e9ee/ops'), ALIKE],
  ['another, by a joiner', like('pay\u200dments-1'), ALIKE],
  ['nothing', like('\u200b\u2060'), INVALID],
  ['a folder', like('..'), INVALID],
];

test.each(LOOKS)('no stream begins that looks like %s', (...attack) => expectRefused(place, attack));

/** Makes a key for one test. */
const makeOne = async (body: object): Promise<{ key_id: string; api_key: string }> =>
  (await place.call('POST', '//keys/', { name: 'k', ...body })).body;

test('a pattern that could go on for ever ends soon', async () => {
  const { api_key } = await makeOne({ preset: 'recorder', streams: Array(50).fill(`${'*a'.repeat(500)}b`) });
  const began = performance.now();
  const answers: Answer[] = [];
  for (let time = 0; time < 5; time++)
    answers.push(await call(place.url, api_key, 'POST', '/entries/', entry('a'.repeat(1024), 1)));
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(403));
  expect(performance.now() - began).toBeLessThan(5000);
});
