import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type FaultServer,
  json,
  type ReceivedRequest,
  type Reply,
  startFaultServer,
} from '../../support/fault-server.ts';
import { API_KEY, connectTo, failure } from './connect.ts';

const open: { close(): Promise<void> }[] = [];
const folder = mkdtempSync(join(tmpdir(), 'redirect-'));

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serve(...replies: Parameters<typeof startFaultServer>): Promise<FaultServer> {
  const server = await startFaultServer(...replies);
  open.push(server);
  return server;
}

function connect(server: FaultServer) {
  const transport = connectTo(server.url);
  open.push(transport);
  return transport;
}

const to = (location: string, status = 307): Reply => ({ status, headers: { location }, body: 'moved' });
const get = (url: string) => ({ method: 'GET', url, repeatable: true }) as const;
const post = (url: string) => ({ method: 'POST', url, body: { a: 1 }, repeatable: false }) as const;
const asked = (server: FaultServer) => server.requests.map(({ method, path, body }) => `${method} ${path} ${body}`);

describe('on the same origin', () => {
  test.each([301, 302, 303, 307, 308])('a GET follows %i, key and all', async (status) => {
    const server = await serve(to('/b/?x=1#part', status), json({ a: 1 }));
    const { value, exchange } = await connect(server).json(get(`${server.url}/a`));
    expect([value, exchange.path, exchange.attempts, exchange.status]).toEqual([{ a: 1 }, '/b/?x=1', 1, 200]);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill(`Bearer ${API_KEY}`));
  });

  test.each([307, 308])('a POST follows %i, with its body', async (status) => {
    const server = await serve(to('b', status), json({}));
    await connect(server).json(post(`${server.url}/x/a`));
    expect(asked(server)).toEqual(['POST /x/a {"a":1}', 'POST /x/b {"a":1}']);
  });

  test.each([301, 302, 303])('a POST does not become a GET by %i', async (status) => {
    const server = await serve(to('/b', status), json({}));
    const error = await failure(connect(server).json(post(`${server.url}/a`)));
    expect(error).toMatchObject({
      code: 'service',
      message: expect.stringMatching(/answered 30\d and redirects.*GET/),
    });
    expect(server.requests).toHaveLength(1);
  });

  test('a download follows, with the range that it asks for', async () => {
    const first: Reply = { body: '0123456789', headers: { etag: '"v"' }, end: 'cut' };
    const rest: Reply = { status: 206, headers: { etag: '"v"', 'content-range': 'bytes 5-9/10' }, body: '56789' };
    const server = await serve(to('/b'), first, to('/c'), rest);
    const observer = { restart: () => {}, chunk: () => {} };
    const { exchange } = await connect(server).download(get(`${server.url}/a`), join(folder, 'file'), observer);
    expect(exchange).toMatchObject({ path: '/c', bytes: 10, attempts: 2 });
    expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined, undefined, 'bytes=5-', 'bytes=5-']);
  });

  test('five are followed, six are not', async () => {
    const next = ({ path }: ReceivedRequest) => to(`/${Number(path.slice(1)) + 1}`);
    const five = await serve(next, next, next, next, next, json({ a: 1 }));
    expect((await connect(five).json(get(`${five.url}/0`))).exchange.path).toBe('/5');
    const loop = await serve(to('/0'));
    expect((await failure(connect(loop).json(get(`${loop.url}/0`)))).message).toContain('more than 5 times');
    expect(loop.requests).toHaveLength(6);
  });

  test.each([
    ['without an address', {}, /answered 301$/],
    ['to what is none', { location: 'http://[' }, /an invalid address/],
  ])('%s it leads nowhere', async (_words, headers, message) => {
    const server = await serve({ status: 301, headers: headers as Record<string, string> });
    const error = await failure(connect(server).json(get(server.url)));
    expect(error).toMatchObject({ code: 'service', message: expect.stringMatching(message) });
  });
});

describe('to another origin', () => {
  test('nothing is sent, and the error names it', async () => {
    const other = await serve(json({ stolen: true }));
    const server = await serve(to(`${other.url}/a?secret`));
    for (const call of [get(server.url), post(server.url)]) {
      const error = await failure(connect(server).json(call));
      expect(error).toMatchObject({
        code: 'service',
        message: expect.stringContaining(`another origin, ${other.url}`),
      });
      expect(error.message).not.toContain('secret');
      expect(error.nextStep).toContain('source.audit_url');
    }
    expect([server.requests.length, other.requests.length]).toEqual([2, 0]);
  });

  const NAMES: [string, (url: string) => string, RegExp][] = [
    ['another scheme', (url) => url.replace('http:', 'https:'), /origin, https:\/\/127/],
    ['another name of the same host', (url) => url.replace('127.0.0.1', 'localhost'), /origin, http:\/\/localhost/],
    ['another port', (url) => url.replace(/:\d+$/, ':1'), /:1, /],
    ['without a scheme', () => '//elsewhere.invalid/', /origin, http:\/\/elsewhere\.invalid/],
    ['a user that looks like the host', (url) => `${url}@elsewhere.invalid/`, /elsewhere\.invalid/],
    ['a file', () => 'file:///etc/passwd', /origin, file:/],
  ];
  test.each(NAMES)('%s is another', async (_words, location, message) => {
    const server = await serve(({ headers }) => to(location(`http://${headers.host}`)));
    expect((await failure(connect(server).json(get(server.url)))).message).toMatch(message);
    expect(server.requests).toHaveLength(1);
  });

  test('a call is not sent in the first place', async () => {
    const other = await serve(json({}));
    const server = await serve(json({}));
    const error = await failure(connect(server).json(get(`${other.url}/next?page=2`)));
    expect(error).toMatchObject({ code: 'service', message: expect.stringContaining(`not at ${server.url}`) });
    expect([server.requests, other.requests]).toEqual([[], []]);
  });
});
