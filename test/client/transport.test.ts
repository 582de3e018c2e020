import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Transport } from '../../src/client/transport.ts';
import { sha256 } from '../../src/encoding/digest.ts';
import type { EvidenceError } from '../../src/errors.ts';

const KEY = 'sk_secret_of_the_test';
let server: Server | undefined;
let transport: Transport | undefined;

afterEach(async () => {
  await transport?.close();
  server?.closeAllConnections();
  server?.close();
});

type Answer = (outgoing: ServerResponse, incoming: IncomingMessage) => void;

/** A service that gives these answers one after the other, the last for ever, and counts the requests. */
async function serve(...answers: Answer[]): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  server = createServer((incoming, outgoing) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(incoming);
    answer?.(outgoing, incoming);
  });
  await new Promise<void>((listening) => server?.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`, requests };
}

function connect(signal = new AbortController().signal): Transport {
  transport = new Transport({
    apiKey: KEY,
    userAgent: 'test',
    timeouts: { connect: 500, headers: 500, idle: 500 },
    attempts: 3,
    maxJsonBytes: 1000,
    signal,
  });
  return transport;
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (outgoing) =>
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const send =
  (status: number, type: string, body: string): Answer =>
  (outgoing) =>
    outgoing.writeHead(status, { 'content-type': type }).end(body);
const good = json(200, { ok: true }, { 'x-request-id': 'r-1' });
const cut: Answer = (outgoing) => {
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"a":');
  setImmediate(() => outgoing.destroy());
};
const get = (url: string) => connect().json({ method: 'GET', url, repeatable: true });

describe('an answer that comes in the end', () => {
  test.each<[string, Answer[], number]>([
    ['at once', [good], 1],
    ['after 500', [json(500, {}), good], 2],
    ['after 503 twice', [json(503, {}), json(503, {}), good], 3],
    ['after a cut in the middle of its body', [cut, good], 2],
    ['after a connection that was closed without an answer', [(outgoing) => outgoing.destroy(), good], 2],
    ['after silence', [() => {}, good], 2],
    ['after 429', [json(429, {}, { 'retry-after': '0' }), good], 2],
  ])('%s', async (_words, answers, count) => {
    const { url, requests } = await serve(...answers);
    const { value, exchange } = await get(url);
    expect(value).toEqual({ ok: true });
    expect(requests).toHaveLength(count);
    expect(exchange).toMatchObject({
      method: 'GET',
      path: '/x',
      status: 200,
      attempts: count,
      request_id: 'r-1',
      bytes: 11,
      sha256: sha256('{"ok":true}'),
    });
  });

  test('Retry-After is waited for', async () => {
    const { url } = await serve(json(429, {}, { 'retry-after': '1' }), good);
    const began = performance.now();
    await get(url);
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
  });
});

describe('an answer that never comes', () => {
  test.each<[string, Answer, number, string, RegExp]>([
    [
      '503 for ever',
      json(503, { title: 'Down', code: 'maintenance' }),
      3,
      'service',
      /answered 503: maintenance · Down/,
    ],
    ['cut for ever', cut, 3, 'unreachable', /failed: /],
    ['401', json(401, { detail: 'no such key' }), 1, 'refused', /answered 401: no such key/],
    ['403', json(403, { error: { reason: 'scope' } }), 1, 'refused', /answered 403: .*scope/],
    ['404', send(404, 'text/plain', 'nothing here'), 1, 'not-found', /answered 404: "nothing here"/],
    [
      '422 as FastAPI says it',
      json(422, { detail: [{ loc: ['body', 'x'], msg: 'missing' }] }),
      1,
      'service',
      /body\.x: missing/,
    ],
    [
      'a web page with 200',
      send(200, 'text/html', '<html>Login</html>'),
      1,
      'service',
      /200 with text\/html, but this is not JSON: "<html>Login/,
    ],
    ['nothing with 200', send(200, 'application/json', ''), 1, 'service', /not JSON: an empty body/],
    ['more than the limit', json(200, 'x'.repeat(2000)), 1, 'service', /answers more than \d+ bytes/],
    ['silence', () => {}, 3, 'unreachable', /UND_ERR_HEADERS_TIMEOUT/],
    ['a body that stops', (outgoing) => outgoing.writeHead(200).write('{'), 3, 'unreachable', /UND_ERR_BODY_TIMEOUT/],
  ])('%s', async (_words, answer, count, code, message) => {
    const { url, requests } = await serve(answer);
    const failure: EvidenceError = await get(url).then(
      () => expect.fail('it succeeded'),
      (error) => error,
    );
    expect([failure.code, requests.length]).toEqual([code, count]);
    expect(failure.message).toMatch(message);
    expect(failure.message).toContain(url);
    expect(`${failure.message}${failure.nextStep}`).not.toContain(KEY);
  });

  test('a request that may have arrived is not repeated unless it can be', async () => {
    const { url, requests } = await serve((outgoing) => outgoing.destroy());
    const call = { method: 'POST' as const, url, body: {}, repeatable: false };
    await expect(connect().json(call)).rejects.toMatchObject({ code: 'unreachable' });
    expect(requests).toHaveLength(1);
  });

  test('an interruption ends it, also while it waits', async () => {
    const { url } = await serve(json(503, {}, { 'retry-after': '60' }));
    const controller = new AbortController();
    const waiting = connect(controller.signal).json({ method: 'GET', url, repeatable: true });
    const began = performance.now();
    setImmediate(() => controller.abort(new Error('stop')));
    await expect(waiting).rejects.toThrow();
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

test('the key goes into the header, and nowhere else', async () => {
  const { url, requests } = await serve(good);
  const { exchange } = await get(url);
  expect(requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
  expect(JSON.stringify(exchange)).not.toContain(KEY);
});

test('a sink begins anew at every attempt, so nothing of a cut answer stays', async () => {
  const { url } = await serve(cut, good);
  let text = '';
  let starts = 0;
  await connect().receive(
    { method: 'GET', url, repeatable: true },
    {
      start: async () => {
        starts++;
        text = '';
      },
      write: async (chunk) => {
        text += Buffer.from(chunk).toString();
      },
    },
  );
  expect([starts, text]).toEqual([2, '{"ok":true}']);
});
