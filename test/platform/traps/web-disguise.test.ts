import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectNet } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decoy, DecoyDeps } from '../../../src/platform/traps/decoys/decoy.ts';
import { startWeb } from '../../../src/platform/traps/decoys/web/web.ts';
import { settingsOf } from './decoy-places.ts';
import { nmapOf } from './nmap.ts';
import { exchange, type RealNginx, startNginx } from './real-nginx.ts';

/** Requests that nginx answers without an upstream. */
const REQUESTS: readonly string[] = [
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /x HTTP/1.0\r\n\r\n',
  'GET /x HTTP/1.0\n\n',
  'get / HTTP/1.1\r\n\r\n',
  'FOO / HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /\r\n',
  'GET /x\n',
  'POST /x\r\n',
  'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/2.0\r\n\r\n',
  'GET / HTTP/3',
  'HEAD / HTTP/2.0\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
  'OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n',
  'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n',
  'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n',
  'CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n',
  '\x16\x03\x01\x00',
  '\0\0\0\0',
  '\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /../x HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /a/../x HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET http://x/y HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET http://x HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n',
  'GET / HTTP/1.1\r\nHost:\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a..b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: .\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a:b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a:b:c\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x[y\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nBad_Name: 1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nBad Name: 1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nB!d: 1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nNoColon\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\n: v\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc',
  'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n',
  'POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /y HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\nabc',
  'POST /x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n',
  'GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  'GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  'GET /x HTTP/1.1\r\nHost: x\r\n\r\nGET /y HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /x HTTP/1.1\r\nHost: x\r\nUser-Agent: Mozilla Chrome/1\r\n\r\n',
  'GET /x HTTP/1.1\r\nHost: x\r\nUser-Agent: Mozilla MSIE 6.0\r\n\r\n',
  'GET /assets/x.gif HTTP/1.1\r\nHost: x\r\n\r\n',
  'HEAD /assets/x.gif HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST /assets/x.gif HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na',
  'PUT /assets/x.gif HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /assets/x.gif HTTP/1.1\r\nHost: x\r\nIf-Modified-Since: Mon, 28 Sep 1970 06:00:00 GMT\r\n\r\n',
  'GET /assets/x.gif HTTP/1.1\r\nHost: x\r\nRange: bytes=0-3\r\n\r\n',
  'GET /assets/x.gif HTTP/1.1\r\nHost: x\r\nIf-None-Match: "a"\r\n\r\n',
  'GET / HTTP/1.10\r\nHost: x\r\n\r\n',
  'GET / HTTP/1.100\r\nHost: x\r\n\r\n',
  'GET / HTTP/1.1 \r\nHost: x\r\n\r\n',
  'GET / HTTP/1.1 x\r\nHost: x\r\n\r\n',
  'GET / HTTP/10.1\r\n',
  'GET / HTTP/0.9\r\n',
  'GET  /  HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET / http/1.1\r\n',
  'GET\r\n',
  'HELP\r\n',
  'A',
  'GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET / HTTP/1.1\r\n\nHost: x\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\n\rX',
  ...[8170, 8171, 8172, 8173, 8174, 8175, 8176, 8177, 8178, 8179, 8180, 8181, 8182, 9000].map(
    (n) => `GET /${'a'.repeat(n)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ),
  ...[8180, 8185, 8186, 8187, 8188, 8189, 8190, 8191, 9000].map(
    (n) => `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(n)}\r\n\r\n`,
  ),
  ...[1, 2, 3, 4, 5, 6].map((n) => `GET / HTTP/1.1\r\nHost: x\r\n${`A: ${'a'.repeat(8000)}\r\n`.repeat(n)}\r\n`),
  ...[30, 40, 100, 300, 340, 360, 700].map(
    (n) => `GET / HTTP/1.1\r\nHost: x\r\n${`A: ${'a'.repeat(90)}\r\n`.repeat(n)}\r\n`,
  ),
];

/** Dependencies without any trap. */
const MEANS = {
  find: async () => null,
  record: async () => {},
  clock: () => new Date(),
} satisfies Omit<DecoyDeps, 'log'> as unknown as DecoyDeps;

let nginx: RealNginx;
let plain: Decoy;
let secure: Decoy;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'decoys-'));
  nginx = await startNginx();
  plain = await startWeb(settingsOf({ kind: 'web', isPlain: true }), join(folder, 'plain'), MEANS);
  secure = await startWeb(settingsOf({ kind: 'web' }), join(folder, 'secure'), MEANS);
});
afterAll(async () => {
  await Promise.all([plain.close(), secure.close(), nginx.close()]);
  await rm(folder, { recursive: true });
});

/** Removes the parts that differ between seconds and between versions of Debian. */
function comparable(answer: string): string {
  return answer
    .replaceAll(nginx.name, 'nginx/VERSION')
    .replaceAll('nginx/1.22.1', 'nginx/VERSION')
    .replaceAll(/Date: .*|Content-Length: .*/g, '');
}

describe('nginx itself answers the same bytes', () => {
  /** Four answers to each request. All requests run concurrently, so that they take as long as one. */
  const answers = new Map<string, string[]>();
  beforeAll(async () => {
    const ports = [plain.place.port, nginx.port, secure.place.port, nginx.tlsPort];
    await Promise.all(
      REQUESTS.map(async (bytes) => {
        const all = await Promise.all(ports.map((port) => exchange(port, bytes)));
        answers.set(bytes, all.map(comparable));
      }),
    );
  });

  test.each(REQUESTS.map((bytes) => [JSON.stringify(bytes.slice(0, 100)), bytes]))('%s', (_, bytes) => {
    const [ours, theirs, oursTls, theirsTls] = answers.get(bytes) ?? [];
    expect(theirs).toBeDefined();
    expect(ours).toBe(theirs);
    expect(oursTls).toBe(theirsTls);
  });
});

test('nmap calls it nginx, plain and by TLS', async () => {
  const said = await nmapOf([plain.place.port, secure.place.port]);
  expect(said.match(/open +(?:ssl\/http|http) +nginx 1\.22\.1/g)).toHaveLength(2);
});

test('what is negotiated by TLS is what nginx negotiates', async () => {
  const offers = [
    {},
    { maxVersion: 'TLSv1.2' },
    { ALPNProtocols: ['http/1.1'] },
    { ALPNProtocols: ['h2', 'http/1.1'] },
  ] as const;
  for (const offer of offers) {
    const seen = await Promise.all(
      [secure.place.port, nginx.tlsPort].map(async (port) => {
        const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...offer });
        await once(socket, 'secureConnect');
        const { version } = socket.getCipher();
        const seen = [socket.getProtocol(), socket.alpnProtocol, version];
        socket.destroy();
        return seen;
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
  }
});

test('certificates of two decoys have nothing in common but what every certificate has', async () => {
  const other = await startWeb(settingsOf({ kind: 'web' }), join(folder, 'other'), MEANS);
  const [one, two] = await Promise.all(
    [secure, other].map(async ({ place }) => {
      const socket = connectTls({ port: place.port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { serialNumber, issuer, pubkey, valid_from } = socket.getPeerCertificate();
      socket.destroy();
      return { serialNumber, issuer: JSON.stringify(issuer), key: pubkey?.toString('hex'), valid_from };
    }),
  );
  await other.close();
  for (const name of ['serialNumber', 'issuer', 'key', 'valid_from'] as const)
    expect(one?.[name]).not.toBe(two?.[name]);
});

test('a body of any size is no more in memory than its beginning', async () => {
  const { port } = plain.place;
  const socket = connectNet(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes;
  });
  socket.on('error', () => {});
  socket.write('POST /api/v1/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
  for (let sent = 0; sent < 64; sent++) socket.write(chunk);
  await expect.poll(() => answer).toContain('413 Request Entity Too Large');
  socket.destroy();
});
test('whoever shows an identity waits as long for a refusal as for an answer', async () => {
  const trap = { trapNo: 1, type: 'npm_token' as const, credential: { username: 'svc' } };
  const own = await startWeb(settingsOf({ kind: 'web', isPlain: true }), folder, {
    ...MEANS,
    find: async (marks) => (marks.some(({ value }) => value === 'known') ? trap : null),
    record: () => setTimeout(20),
  });
  const took = async (token: string) => {
    const began = performance.now();
    const url = `http://127.0.0.1:${own.place.port}/npm/-/whoami`;
    const { status } = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return { status, isAStep: performance.now() - began >= 49 };
  };
  expect(await took('known')).toEqual({ status: 200, isAStep: true });
  expect(await took('unknown')).toEqual({ status: 401, isAStep: true });
  await own.close();
});
