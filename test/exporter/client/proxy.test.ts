import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FaultServer, json, startFaultServer } from '../../support/fault-server.ts';
import { makeCertificates } from './certificates.ts';
import { API_KEY, connectTo, failure } from './connect.ts';

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const open: { close(): unknown }[] = [];
const before = new Map(VARIABLES.map((name) => [name, process.env[name]]));

beforeEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});

afterEach(async () => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** Starts a proxy that forwards every request to one local port, whatever its host, and records the visible parts. */
async function startProxy(targetPort: number) {
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url} ${JSON.stringify(incoming.headers)}`);
    const { pathname, search } = new URL(incoming.url ?? '');
    const options = { port: targetPort, path: pathname + search, method: incoming.method, headers: incoming.headers };
    const onward = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket) => {
    seen.push(`CONNECT ${incoming.url} ${JSON.stringify(incoming.headers)}`);
    const onward = connectSocket(targetPort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket);
      socket.pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => server.close().closeAllConnections() });
  return { url: `http://user:pass@127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function serve(): Promise<FaultServer> {
  const server = await startFaultServer(json({ a: 1 }));
  open.push(server);
  return server;
}

function ask(url: string, more: Parameters<typeof connectTo>[1] = {}) {
  const transport = connectTo(url, { attempts: 1, ...more });
  open.push(transport);
  return transport.json({ method: 'GET', url, repeatable: true });
}

const portOf = (url: string) => Number(new URL(url).port);

describe('http', () => {
  test.each(['HTTP_PROXY', 'http_proxy'])('is forwarded by the proxy of %s', async (name) => {
    const server = await serve();
    const proxy = await startProxy(portOf(server.url));
    process.env[name] = proxy.url;
    expect((await ask('http://audit.test/a?b')).value).toEqual({ a: 1 });
    expect(proxy.seen).toEqual([expect.stringMatching(/^GET http:\/\/audit\.test\/a\?b /)]);
    expect(server.requests[0]?.headers).toMatchObject({ host: 'audit.test', authorization: `Bearer ${API_KEY}` });
  });

  test.each(['audit.test', '.test', 'else.where, audit.test', '*'])(
    'goes past it when NO_PROXY is %s',
    async (names) => {
      const server = await serve();
      const proxy = await startProxy(portOf(server.url));
      process.env['HTTP_PROXY'] = proxy.url;
      process.env['NO_PROXY'] = names;
      expect((await failure(ask('http://audit.test/'))).message).toMatch(/ENOTFOUND|EAI_AGAIN/);
      expect(proxy.seen).toEqual([]);
    },
  );

  test.each(['127.0.0.1', 'localhost'])('of %s stays on this machine', async (host) => {
    const server = await serve();
    process.env['HTTP_PROXY'] = 'http://127.0.0.1:1';
    expect((await ask(server.url.replace('127.0.0.1', host))).value).toEqual({ a: 1 });
  });

  test('keeps the time limits', async () => {
    const server = await startFaultServer({ body: 'half of it', end: 'stall' });
    open.push(server);
    process.env['HTTP_PROXY'] = (await startProxy(portOf(server.url))).url;
    expect((await failure(ask('http://audit.test/'))).message).toContain('UND_ERR_BODY_TIMEOUT');
  });
});

describe('https', () => {
  const { ca, server: identity, client } = makeCertificates();

  async function serveSecurely() {
    const keys: string[] = [];
    const options = { ...identity, ca, requestCert: true, rejectUnauthorized: true };
    const server = createSecureServer(options, ({ headers }, outgoing) => {
      keys.push(headers.authorization ?? '');
      outgoing.end('{"a":1}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({ close: () => server.close().closeAllConnections() });
    return { port: (server.address() as AddressInfo).port, keys };
  }

  test.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY'])(
    'is tunneled by the proxy of %s, which sees no key',
    async (name) => {
      const server = await serveSecurely();
      const proxy = await startProxy(server.port);
      process.env[name] = proxy.url;
      expect((await ask('https://audit.test/a?b', { tls: { ca, ...client } })).value).toEqual({ a: 1 });
      expect(server.keys).toEqual([`Bearer ${API_KEY}`]);
      expect(proxy.seen).toEqual([expect.stringMatching(/^CONNECT audit\.test:443 /)]);
      expect(proxy.seen.join()).toContain('proxy-authorization');
      expect(proxy.seen.join()).not.toMatch(/Bearer|sk_live/);
    },
  );

  test('is not sent to a service whose certificate is not believed', async () => {
    const server = await serveSecurely();
    process.env['HTTPS_PROXY'] = (await startProxy(server.port)).url;
    expect((await failure(ask('https://other.test/', { tls: { ca, ...client } }))).code).toBe('unreachable');
    expect((await failure(ask('https://audit.test/', { tls: client }))).nextStep).toContain('ca_file');
    expect(server.keys).toEqual([]);
  });
});

test('a proxy that does not answer is an error without its password', async () => {
  process.env['HTTPS_PROXY'] = 'http://user:pass_word@127.0.0.1:1';
  const error = await failure(ask('https://audit.test/'));
  expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('ECONNREFUSED') });
  expect(error.message).not.toContain('pass_word');
});

test('a proxy that is no address is an error of the configuration', () => {
  process.env['HTTP_PROXY'] = 'not a proxy';
  expect(() => connectTo('http://audit.test')).toThrow(expect.objectContaining({ code: 'config' }));
});
