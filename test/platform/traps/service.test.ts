import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const TRAPS = '//traps/api/v1';
const BUG = { credential_type: 'web_bug', plant_location: 'wiki', label: 'the salary page' };

const generate = async (more: object = {}, headers: Record<string, string> = {}) =>
  service.call('POST', `${TRAPS}/credentials/generate`, { ...BUG, ...more }, headers);

const detectionsOf = async (credentialId: string) =>
  (await service.call('GET', `${TRAPS}/detections/?credential_id=${credentialId}`)).body.data;

test('a web bug is a detection when somebody opens it, and never says so', async () => {
  const { body: trap, status } = await generate();
  expect([status, trap.status, trap.origin]).toEqual([201, 'active', 'fabricated']);
  expect(trap.detection_channels).toEqual([
    { channel: 'http', active: true, reason: 'The platform itself receives the call.', last_proved_at: null },
  ]);
  const opened = await fetch(trap.credential.url, { headers: { 'user-agent': 'Word/16' } });
  const unknown = await fetch(trap.credential.url.replace(trap.credential.token, 'nobody'));
  expect(await answerOf(opened)).toEqual(await answerOf(unknown));
  const [detection, ...others] = await detectionsOf(trap.credential_id);
  expect(others).toEqual([]);
  expect(detection).toMatchObject({
    depth: 'read',
    severity: 'medium',
    channel: 'http',
    occurrences: 1,
    status: 'open',
    label: BUG.label,
    source_ip: '127.0.0.1',
    user_agent: 'Word/16',
    auth_verified: null,
    leaked_between: [trap.created_at, detection.first_seen],
  });
  const { stream_id, sequence, hash } = detection.entry;
  const entries = (await service.call('GET', `/entries/?stream_id=${stream_id}&action=trap.used`)).body.data;
  expect(entries).toMatchObject([{ sequence, hash, metadata: { detection_id: detection.detection_id } }]);
  const after = (await service.call('GET', `${TRAPS}/credentials/${trap.credential_id}`)).body;
  expect([after.status, after.detection_count]).toEqual(['triggered', 1]);
  expect(Object.keys(after)).not.toEqual(expect.arrayContaining(['credential']));
});

async function answerOf(answer: Response) {
  const headers = Object.fromEntries(answer.headers);
  const { date: _, 'x-request-id': __, ...others } = headers;
  return { status: answer.status, headers: others, bytes: Buffer.from(await answer.arrayBuffer()).toString('hex') };
}

test('a credential is shown once, and a repeated request makes no second trap', async () => {
  const key = { 'idempotency-key': 'once' };
  const { body: first } = await generate({ label: 'once' }, key);
  const again = await generate({ label: 'once' }, key);
  expect([again.status, again.body.code]).toEqual([409, 'key_shown_before']);
  expect(again.body.detail).toContain(first.credential_id);
  const other = await generate({ label: 'another' }, key);
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_conflict']);
  const { data } = (await service.call('GET', `${TRAPS}/credentials/?limit=500`)).body;
  expect(data.filter(({ label }: { label: string }) => label === 'once')).toHaveLength(1);
});

test('a trap is planted, rotated and revoked, and both are traps for ever', async () => {
  const { body: old } = await generate();
  const path = (act: string, id = old.credential_id) => `${TRAPS}/credentials/${id}/${act}`;
  const planted = (await service.call('POST', path('confirm'), { planted_at: '2026-11-01T00:00:00Z' })).body;
  expect([planted.status, planted.planted_at]).toEqual(['planted', '2026-11-01T00:00:00.000Z']);
  const { body: fresh, status } = await service.call('POST', path('rotate'));
  expect([status, fresh.rotated_from]).toEqual([201, old.credential_id]);
  expect(fresh.credential.url).not.toBe(old.credential.url);
  expect((await service.call('POST', path('rotate'))).body.code).toBe('conflict');
  await service.call('POST', path('revoke', fresh.credential_id));
  for (const { credential } of [old, fresh]) await fetch(credential.url);
  expect((await detectionsOf(old.credential_id))[0].leaked_between[0]).toBe('2026-11-01T00:00:00.000Z');
  expect(await detectionsOf(fresh.credential_id)).toHaveLength(1);
  const statuses = await Promise.all(
    [old, fresh].map(
      async ({ credential_id }) => (await service.call('GET', path('', credential_id).slice(0, -1))).body,
    ),
  );
  expect(statuses.map(({ status }) => status)).toEqual(['rotated', 'revoked']);
});

test('a poll with nothing new is answered with nothing, and one with news with them', async () => {
  const { body: trap } = await generate();
  const poll = (etag?: string) =>
    service.call('GET', `${TRAPS}/detections/`, undefined, etag === undefined ? {} : { 'if-none-match': etag });
  const known = (await poll()).headers.get('etag') ?? '';
  expect(await poll(known)).toMatchObject({ status: 304, text: '' });
  await fetch(trap.credential.url);
  const news = await poll(known);
  expect([news.status, news.body.data[0].credential_id]).toEqual([200, trap.credential_id]);
  const next = news.headers.get('etag') ?? '';
  expect((await poll(next)).status).toBe(304);
  await service.call('POST', `${TRAPS}/detections/${news.body.data[0].detection_id}/status`, {
    status: 'acknowledged',
  });
  expect((await poll(next)).status).toBe(200);
});

test('the files of the platform have no secret of a trap in them', async () => {
  const { body: trap } = await generate({ label: 'searched for' });
  const texts = Object.values<string>(trap.credential);
  expect(texts.length).toBeGreaterThan(0);
  const files = readdirSync(service.dataDir, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const bytes = files.map(({ parentPath, name }) => readFileSync(`${parentPath}/${name}`));
  expect(bytes.some((file) => file.includes('searched for'))).toBe(true);
  for (const text of texts) expect(bytes.filter((file) => file.includes(text))).toEqual([]);
});

test.each([
  [{ credential_type: 'nothing' }, 'credential_type'],
  [{ plant_location: 'mars' }, 'plant_location'],
  [{ label: '' }, 'label'],
  [{ decoy: 'nowhere' }, 'decoy'],
  [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at is in the past: 2020-01-01T00:00:00.000Z'],
])('an input that cannot be met names what is wrong: %j', async (input, named) => {
  const { status, body } = await generate(input);
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain(named);
});
