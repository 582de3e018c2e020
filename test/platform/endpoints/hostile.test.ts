import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EndpointLine } from '../../../src/sensor/report/line.ts';
import { type Service, startService } from '../service.ts';
import { ENDPOINTS, enrol, type HttpSensor } from './http-sensor.ts';
import { file, files, partOf } from './sensor-double.ts';

let service: Service;
let sensor: HttpSensor;
beforeAll(async () => {
  service = await startService();
  sensor = await enrol(service);
});
afterAll(() => service.close());

const LINE = file('/usr/bin/a');

/** Bodies that no sensor sends, each made from a valid one. */
const BODIES: readonly (readonly [
  words: string,
  status: number,
  change: (body: ReturnType<typeof partOf>) => unknown,
])[] = [
  ['no body', 422, () => undefined],
  ['an array', 422, () => []],
  ['text', 400, () => 'x'],
  ['nothing in it', 422, () => ({})],
  ['an unknown member', 422, (body) => ({ ...body, more: 1 })],
  ['an unknown member of a line', 422, (body) => ({ ...body, lines: [{ ...LINE, more: 1 }] })],
  ['a line of an unknown type', 422, (body) => ({ ...body, lines: [{ ...LINE, type: 'door' }] })],
  ['a path with U+0000', 422, (body) => ({ ...body, lines: [file('/a\0b')] })],
  ['a path that is not absolute', 422, (body) => ({ ...body, lines: [file('a')] })],
  [
    'a path with a lone surrogate',
    422,
    (body) => JSON.stringify({ ...body, lines: [file('/X')] }).replace('/X', '/\\ud800'),
  ],
  ['a path that is too long', 422, (body) => ({ ...body, lines: [file(`/${'x'.repeat(9000)}`)] })],
  ['both names of a path', 422, (body) => ({ ...body, lines: [{ ...LINE, path_base64: 'L/8=' }] })],
  ['no name of a path', 422, (body) => ({ ...body, lines: [{ ...LINE, path: undefined }] })],
  ['base64 that is none', 422, (body) => ({ ...body, lines: [{ ...LINE, path: undefined, path_base64: '/!' }] })],
  ['a digest in capitals', 422, (body) => ({ ...body, lines: [{ ...LINE, sha256: 'A'.repeat(64) }] })],
  ['a negative size', 422, (body) => ({ ...body, lines: [{ ...LINE, size: -1 }] })],
  [
    'a size of more than doubles hold',
    422,
    (body) => JSON.stringify({ ...body, lines: [LINE] }).replace('"size":1', '"size":9007199254740993'),
  ],
  ['a member twice', 422, (body) => JSON.stringify(body).replace('{', '{"part":1,')],
  ['2,001 lines in a part', 422, (body) => ({ ...body, lines: files(2001) })],
  ['more parts than a scan has', 422, (body) => ({ ...body, parts: 251, part: 251 })],
  ['a part after the last', 422, (body) => ({ ...body, part: 2, lines: [LINE] })],
  ['part 0', 422, (body) => ({ ...body, part: 0 })],
  ['a time that is none', 422, (body) => ({ ...body, started_at: 'yesterday' })],
  ['no signature', 422, (body) => ({ ...body, signature: undefined })],
  ['a signature that is not base64', 403, (body) => ({ ...body, signature: '\u{1f600}' })],
  ['ten megabytes', 413, (body) => ({ ...body, boot_id: 'x'.repeat(10 * 2 ** 20) })],
];

test.each(BODIES)('a report with %s is refused, and the next one is taken', async (_words, status, change) => {
  const answer = await sensor.send('POST', '/scans/report', change(partOf(await sensor.made([LINE]))));
  expect([answer.status, typeof answer.body.detail]).toEqual([status, 'string']);
  expect((await sensor.report([LINE])).status).toBe(201);
});

test.each([
  ['/sensor/key', { public_key: 'AAAA', proof: 'AAAA' }],
  ['/sensor/key', { public_key: '', proof: '' }],
  ['/sensor/key', {}],
])('%s takes no key %j', async (path, body) => {
  expect((await sensor.send('POST', path, body)).status).toBe(422);
});

test('the token of a sensor is good for its reports and for nothing else', async () => {
  const other = await enrol(service);
  for (const [method, path] of [
    ['GET', '/hosts/'],
    ['GET', '/events/'],
    ['POST', '/enroll'],
    ['POST', `/hosts/${other.id}/restart`],
  ] as const)
    expect((await sensor.send(method, path, method === 'GET' ? undefined : {})).status).toBe(403);
  const stolen = await sensor.send('POST', '/scans/report', partOf(await other.made([LINE])));
  expect([stolen.status, stolen.body.code]).toEqual([403, 'forbidden']);
  expect((await service.call('GET', `${ENDPOINTS}/hosts/${other.id}`)).body.last_report).toBeNull();
});

describe('lists', () => {
  test.each(['/hosts/', '/scans/', '/events/', '/baselines/', '/changes/', '/change-windows/'])(
    '%s takes no cursor of another list',
    async (path) => {
      const { status, body } = await service.call('GET', `${ENDPOINTS}${path}?cursor=WyJ4Il0`);
      expect([status, body.code]).toEqual([422, 'invalid_cursor']);
    },
  );
});

test('names of files that look like commands come back as they are', async () => {
  const hurtful = await enrol(service);
  const names = ['/usr/bin/\u001b[31mred', '/usr/bin/a\nb', '/usr/bin/<script>', '/usr/bin/ä\u2028'].sort(
    (one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );
  const body = { endpoint_id: hurtful.id, name: 'none', roots: ['/'], lines: [], complete: true };
  expect((await service.call('POST', `${ENDPOINTS}/baselines/register`, body)).status).toBe(201);
  const lines: EndpointLine[] = names.map((name) => file(name));
  expect((await hurtful.report(lines)).body.events.raised).toBe(4);
  const { data } = (await service.call('GET', `${ENDPOINTS}/events/?endpoint_id=${hurtful.id}`)).body;
  expect(data.map(({ path }: { path: string }) => path).sort()).toEqual([...names].sort());
});
