import { once } from 'node:events';
import { mkdtempSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RecordedService, recordService, type Service } from './recording.ts';

const LARGE = 'x'.repeat(3 * 2 ** 20);
let asked = 0;
const server = createServer((incoming, outgoing) => {
  asked++;
  outgoing.setHeader('etag', `"${asked}"`);
  if (incoming.url === '/audit/large') outgoing.write(LARGE);
  outgoing.end(`answer ${asked}`);
});
let service: Service;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const auditUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit`;
  service = { auditUrl, apiKey: 'k', env: { EVIDENCE_AUDIT_URL: auditUrl, EVIDENCE_API_KEY: 'k' } };
});
afterAll(() => server.close());

async function ask({ auditUrl }: Service, path: string, posted?: object) {
  const sent = posted === undefined ? {} : { method: 'POST', body: JSON.stringify(posted) };
  const answer = await fetch(`${auditUrl}${path}`, sent);
  return { status: answer.status, etag: answer.headers.get('etag'), text: await answer.text() };
}

function record(folder: string, answers: object[]): Promise<RecordedService> {
  const keep = async (answer: Promise<object>) => answers.push(await answer);
  return recordService(folder, service, [
    async (recorder) => {
      await keep(ask(recorder, '/list?page=1'));
      await keep(ask(recorder, '/large'));
      await keep(ask(recorder, '/generate', { stream_id: 'a', from: null }));
    },
    async (recorder) => keep(ask(recorder, '/generate', { stream_id: 'a' })),
  ]);
}

test('a service is asked once, and answers the same from then on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'recording-'));
  const answers: object[] = [];
  const recorded = await record(folder, answers);
  expect(recorded.env.EVIDENCE_AUDIT_URL).toBe(recorded.auditUrl);
  expect(recorded.requests).toEqual([3, 1]);
  expect(asked).toBe(3);
  expect(answers[3]).toEqual(answers[2]);
  const again = [
    await ask(recorded, '/list?page=1'),
    await ask(recorded, '/large'),
    await ask(recorded, '/generate', { stream_id: 'a' }),
  ];
  expect(again).toEqual(answers.slice(0, 3));
  expect(again[1]).toEqual({ status: 200, etag: '"2"', text: `${LARGE}answer 2` });
  expect(asked).toBe(3);
  await recorded.stop();
  expect(readdirSync(folder)).toEqual([]);
});

test('what is not recorded is refused, and remembered', async () => {
  const recorded = await record(mkdtempSync(join(tmpdir(), 'recording-')), []);
  const before = asked;
  expect((await ask(recorded, '/list?page=2')).status).toBe(500);
  expect((await ask(recorded, '/generate', { stream_id: 'b' })).status).toBe(500);
  expect(asked).toBe(before);
  await expect(recorded.stop()).rejects.toThrow('2 requests are not recorded, e.g. GET /audit/list?page=2');
  await recorded.stop();
});
