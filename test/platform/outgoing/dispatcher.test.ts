import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { isPublic } from '../../../src/platform/outgoing/addresses.ts';
import { Dispatcher, type DispatcherOptions } from '../../../src/platform/outgoing/dispatcher.ts';

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

async function serve(listener: RequestListener): Promise<number> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const post = (url: string, options: DispatcherOptions = {}) =>
  new Dispatcher(options).send({ url: new URL(url), method: 'POST', headers: { 'x-id': '1' }, body: 'hello' });

describe('addresses of the inside', () => {
  test.each([
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fe80::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '2001:db8::1',
    'no address',
  ])('%s is one', (address) => expect(isPublic(address)).toBe(false));

  test.each(['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])(
    '%s is none',
    (address) => expect(isPublic(address)).toBe(true),
  );
});

describe('nothing is sent', () => {
  let asked = 0;
  test.each<[string, (port: number) => string, string[]]>([
    ['to this machine', (port) => `http://127.0.0.1:${port}/`, []],
    ['to this machine in other words', (port) => `http://0x7f000001:${port}/`, []],
    ['to this machine by one number', (port) => `http://2130706433:${port}/`, []],
    ['to this machine in IPv6', (port) => `http://[::ffff:127.0.0.1]:${port}/`, []],
    ['to a name of this machine', (port) => `http://hooks.example:${port}/`, ['127.0.0.1']],
    ['to a name of which one address is of the inside', (port) => `http://a.example:${port}/`, ['1.1.1.1', '10.0.0.1']],
    ['to where clouds keep secrets', () => 'http://metadata.example/', ['169.254.169.254']],
    ['by another protocol', () => 'ftp://example.com/', ['1.1.1.1']],
    ['to a file', () => 'file:///etc/passwd', []],
  ])('%s', async (_name, urlOf, addresses) => {
    const port = await serve((_request, response) => {
      asked++;
      response.end();
    });
    await expect(post(urlOf(port), { resolve: async () => addresses })).rejects.toMatchObject({ code: 'refused' });
    expect(asked).toBe(0);
  });

  test('to a name without an address', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    await expect(post('http://no.example/', { resolve })).rejects.toMatchObject({ code: 'unreachable' });
    await expect(post('http://no.example/', { resolve: async () => [] })).rejects.toMatchObject({
      code: 'unreachable',
    });
  });
});

describe('to a host that the configuration names', () => {
  test('a request goes as it was meant, and its answer comes back', async () => {
    const port = await serve((request, response) => {
      const { method, headers, url } = request;
      let body = '';
      request.on('data', (text) => {
        body += text;
      });
      request.on('end', () => {
        response.setHeader('x-back', 'yes').writeHead(202);
        response.end(JSON.stringify({ method, host: headers.host, id: headers['x-id'], url, body }));
      });
    });
    const { status, headers, body } = await post(`http://hooks.example:${port}/a?b=c`, {
      allowed: ['hooks.example'],
      resolve: async () => ['127.0.0.1'],
    });
    expect([status, headers['x-back']]).toEqual([202, 'yes']);
    expect(JSON.parse(body.toString())).toEqual({
      method: 'POST',
      host: `hooks.example:${port}`,
      id: '1',
      url: '/a?b=c',
      body: 'hello',
    });
  });

  test('a name is resolved once, and means what it meant', async () => {
    const port = await serve((_request, response) => response.end('here'));
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const resolve = async () => answers.shift() ?? [];
    const { body } = await post(`http://hooks.example:${port}/`, { allowed: [`hooks.example:${port}`], resolve });
    expect([body.toString(), answers]).toEqual(['here', [['127.0.0.2']]]);
  });

  test('another port of it is not named by one that is', async () => {
    const allowed = ['127.0.0.1:1'];
    await expect(post('http://127.0.0.1:2/', { allowed })).rejects.toMatchObject({ code: 'refused' });
  });

  test('nobody is sent on', async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked++;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const { status } = await post(`http://127.0.0.1:${port}/`, { allowed: [`127.0.0.1:${port}`] });
    expect([status, asked]).toEqual([307, 1]);
  });

  test.each<[string, RequestListener, string]>([
    ['that is too large', (_request, response) => response.end('x'.repeat(2000)), 'service'],
    ['that does not come', () => {}, 'unreachable'],
    [
      'that does not end',
      (_request, response) => {
        response.write('x');
      },
      'unreachable',
    ],
    ['that is none', (request) => request.socket.end('no HTTP\r\n\r\n'), 'unreachable'],
  ])('an answer %s ends in an error', async (_name, listener, code) => {
    const port = await serve(listener);
    const options = { allowed: ['127.0.0.1'], timeoutMs: 300, maxAnswerBytes: 1000 };
    await expect(post(`http://127.0.0.1:${port}/`, options)).rejects.toMatchObject({ code });
  });
});
