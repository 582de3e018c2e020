import { afterEach, expect, test } from 'vitest';
import { DEFAULT_TRANSPORT } from '../../../src/exporter/client/options.ts';
import { Transport } from '../../../src/exporter/client/transport.ts';
import { type FaultServer, json, startFaultServer, unusedUrl } from '../../support/fault-server.ts';

const KEY = 'sk_plain_0123';
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function plain(...replies: Parameters<typeof startFaultServer>) {
  const server: FaultServer = await startFaultServer(...replies);
  const transport = transportTo(server.url);
  opened.push(transport, server);
  const answer = await transport.plain({ method: 'GET', url: `${server.url}/x`, repeatable: true });
  return { answer, requests: server.requests.length };
}

function transportTo(url: string): Transport {
  return new Transport({
    ...DEFAULT_TRANSPORT,
    origin: new URL(url).origin,
    apiKey: KEY,
    userAgent: 'test',
    signal: new AbortController().signal,
  });
}

test('a refusal is an answer: its status and what it says, without the key', async () => {
  const { answer, requests } = await plain(json({ detail: `no ${KEY}` }, { status: 422 }));
  expect(answer).toMatchObject({ status: 422, text: '{"detail":"no ***"}' });
  expect(answer.error?.code).toBe('service');
  expect(requests).toBe(1);
});

test('what is worth it is retried, and then an answer', async () => {
  const again = { status: 503, headers: { 'retry-after': '0' } };
  expect((await plain(again, json([1]))).answer).toMatchObject({ status: 200, text: '[1]', error: null });
  const { answer, requests } = await plain(again);
  expect(answer.status).toBe(503);
  expect(requests).toBe(DEFAULT_TRANSPORT.attempts);
});

test('the Link header comes with it', async () => {
  const { answer } = await plain(json([], { headers: { link: '</y>; rel="next"' } }));
  expect(answer.link).toBe('</y>; rel="next"');
});

test('what cannot be reached is none', async () => {
  const url = await unusedUrl();
  const transport = transportTo(url);
  opened.push(transport);
  await expect(transport.plain({ method: 'GET', url, repeatable: false })).rejects.toMatchObject({
    code: 'unreachable',
  });
});
