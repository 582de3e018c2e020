import { expect, test } from 'vitest';
import { createServer } from '../../../src/platform/http/server.ts';

const SAID = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };

test.each([
  ['a trusted proxy', '127.0.0.1', ['127.0.0.1'], { ip: '203.0.113.9', protocol: 'https' }],
  ['a proxy of a trusted network', '10.1.2.3', ['10.0.0.0/8'], { ip: '203.0.113.9', protocol: 'https' }],
  ['anybody else', '198.51.100.7', ['127.0.0.1'], { ip: '198.51.100.7', protocol: 'http' }],
  ['anybody, where none is trusted', '127.0.0.1', [], { ip: '127.0.0.1', protocol: 'http' }],
] as const)(
  'what %s says of the sender is taken as it has to be',
  async (_who, remoteAddress, trustedProxies, expected) => {
    const server = createServer({
      logLevel: 'silent',
      clock: () => new Date(0),
      trustedProxies,
      rateLimits: { requestsPerMinute: 100, refusalsPerMinute: 100 },
      authenticate: async () => ({ kind: 'key', id: 'k', name: 'k', scopes: [] }),
    });
    server.get('/', { config: { public: true } }, ({ ip, protocol }) => ({ ip, protocol }));
    expect((await server.inject({ url: '/', remoteAddress, headers: SAID })).json()).toEqual(expected);
  },
);

test.each([
  ['through a trusted proxy, over https', '127.0.0.1', 'https', 'https://audit.example.com', 'max-age=31536000'],
  ['through a trusted proxy, over http', '127.0.0.1', 'http', 'https://audit.example.com', undefined],
  ['from anybody else', '198.51.100.7', 'https', 'https://audit.example.com', undefined],
  ['to a platform with an address of http', '127.0.0.1', 'https', 'http://audit.example.com', undefined],
  ['to a platform without an address', '127.0.0.1', 'https', null, undefined],
])('a request %s', async (_what, remoteAddress, protocol, publicUrl, expected) => {
  const server = createServer({
    logLevel: 'silent',
    clock: () => new Date(0),
    trustedProxies: ['127.0.0.1'],
    publicUrl,
    rateLimits: { requestsPerMinute: 100, refusalsPerMinute: 100 },
    authenticate: async () => ({ kind: 'key', id: 'k', name: 'k', scopes: [] }),
  });
  server.get('/', { config: { public: true } }, () => ({}));
  for (const url of ['/', '/nothing']) {
    const { headers } = await server.inject({ url, remoteAddress, headers: { 'x-forwarded-proto': protocol } });
    expect(headers['strict-transport-security']).toBe(expected);
  }
});

test('who is after a trusted proxy is not before others: a sender that was sent along is not believed', async () => {
  const server = createServer({
    logLevel: 'silent',
    clock: () => new Date(0),
    trustedProxies: ['127.0.0.1'],
    rateLimits: { requestsPerMinute: 100, refusalsPerMinute: 100 },
    authenticate: async () => ({ kind: 'key', id: 'k', name: 'k', scopes: [] }),
  });
  server.get('/', { config: { public: true } }, ({ ip }) => ({ ip }));
  // The proxy appends the address that it saw; a client can forge the addresses before it.
  const headers = { 'x-forwarded-for': '192.0.2.1, 203.0.113.9' };
  expect((await server.inject({ url: '/', remoteAddress: '127.0.0.1', headers })).json()).toEqual({
    ip: '203.0.113.9',
  });
});
