import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDevelopmentAuthority, openDevelopmentAuthority } from '../../../src/platform/timestamp/authority.ts';
import type { Trust } from '../../../src/platform/timestamp/exchange.ts';
import { remoteAuthority } from '../../../src/platform/timestamp/remote.ts';
import { run, runToEnd } from '../../support/process.ts';
import { type OpensslAuthority, startOpensslAuthority } from '../../support/tsa.ts';

const DIGEST = 'ab'.repeat(32);
const OTHER_DIGEST = 'cd'.repeat(32);
const ANY: Trust = { roots: [], clock: () => new Date() };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'authority-'));
});

afterEach(() => rm(folder, { recursive: true }));

async function opensslVerify(token: Uint8Array, digest: string, rootFile: string): Promise<string> {
  const file = join(folder, 'token.tsr');
  await writeFile(file, token);
  const words = ['ts', '-verify', '-digest', digest, '-in', file, '-CAfile', rootFile];
  const { code, stdout, stderr } = await runToEnd('openssl', words, { cwd: folder });
  return code === 0 ? stdout.trim() : stderr;
}

async function opensslText(...words: string[]): Promise<string> {
  return run('openssl', words);
}

describe('the development authority', () => {
  it('stamps a digest so that openssl accepts it under its root, for this digest only', async () => {
    const dir = join(folder, 'authority');
    await createDevelopmentAuthority(dir);
    const { token } = await (await openDevelopmentAuthority(dir)).stamp(DIGEST);
    const root = join(dir, 'root.pem');
    expect(await opensslVerify(token, DIGEST, root)).toBe('Verification: OK');
    expect(await opensslVerify(token, OTHER_DIGEST, root)).toMatch(/message imprint mismatch/);
    const another = join(folder, 'another');
    await createDevelopmentAuthority(another);
    expect(await opensslVerify(token, DIGEST, join(another, 'root.pem'))).toMatch(/certificate verify error/);
  });

  it('states the time of stamping to the millisecond, and a serial number of its own in each token', async () => {
    await createDevelopmentAuthority(folder);
    const authority = await openDevelopmentAuthority(folder);
    const before = Date.now();
    const stamps = [await authority.stamp(DIGEST), await authority.stamp(DIGEST)];
    const after = Date.now();
    const told = await Promise.all(
      stamps.map(async ({ token, genTime }) => {
        expect(genTime.getTime()).toBeGreaterThanOrEqual(before);
        expect(genTime.getTime()).toBeLessThanOrEqual(after);
        const file = join(folder, `${genTime.getTime()}.tsr`);
        await writeFile(file, token);
        const text = await opensslText('ts', '-reply', '-in', file, '-text');
        const stamped = /Time stamp: (.*?)(\.\d+)? (\d{4}) GMT/.exec(text);
        const seconds = Date.parse(`${stamped?.[1]} ${stamped?.[3]} GMT`);
        expect(seconds + Math.round(Number(stamped?.[2] ?? 0) * 1000)).toBe(genTime.getTime());
        expect(text).toContain('Policy OID: 1.3.6.1.4.1.99999.1');
        return /Serial number: 0x([0-9A-F]{10,})/.exec(text)?.[1];
      }),
    );
    expect(told).not.toContain(undefined);
    expect(new Set(told).size).toBe(2);
  });

  it('has a certificate for time-stamping and nothing else, and names that nobody takes for a witness', async () => {
    await createDevelopmentAuthority(folder);
    const text = await opensslText('x509', '-in', join(folder, 'tsa.pem'), '-noout', '-text');
    expect(text).toMatch(/Extended Key Usage: critical\n\s+Time Stamping\n/);
    expect(text.match(/not an external witness/g)).toHaveLength(2);
    expect((await openDevelopmentAuthority(folder)).kind).toBe('development');
  });

  it('keeps its key to its owner and no key of the root', async () => {
    const dir = join(folder, 'authority');
    await createDevelopmentAuthority(dir);
    expect((await stat(join(dir, 'tsa.key'))).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    expect((await readdir(dir)).sort()).toEqual(['root.pem', 'tsa.key', 'tsa.pem']);
  });

  it('is never replaced', async () => {
    await createDevelopmentAuthority(folder);
    const root = await readFile(join(folder, 'root.pem'), 'utf8');
    await expect(createDevelopmentAuthority(folder)).rejects.toMatchObject({ code: 'config' });
    expect(await readFile(join(folder, 'root.pem'), 'utf8')).toBe(root);
  });

  it.each([
    ['not there', [], 'not-found'],
    ['damaged', ['tsa.pem'], 'unreadable'],
  ])('says that it is %s', async (_what, files, code) => {
    for (const file of files) await writeFile(join(folder, file), 'nonsense');
    await expect(openDevelopmentAuthority(folder)).rejects.toMatchObject({ code });
  });

  it.each(['', 'ab', 'zz'.repeat(32), 'ab'.repeat(64)])('refuses to stamp %j', async (digest) => {
    await createDevelopmentAuthority(folder);
    await expect((await openDevelopmentAuthority(folder)).stamp(digest)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('an external authority', () => {
  let openssl: OpensslAuthority;
  let opensslFolder: string;
  let server: Server | undefined;

  beforeAll(async () => {
    opensslFolder = await mkdtemp(join(tmpdir(), 'openssl-tsa-'));
    openssl = await startOpensslAuthority(opensslFolder);
  });

  afterAll(async () => {
    await openssl.close();
    await rm(opensslFolder, { recursive: true });
  });

  afterEach(async () => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  async function serve(listener: RequestListener): Promise<string> {
    server = createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  /** Starts an authority that answers every request with these bytes. */
  function answering(body: Uint8Array, status = 200, type = 'application/timestamp-reply'): Promise<string> {
    return serve((request, response) => {
      request.resume().on('end', () => response.writeHead(status, { 'content-type': type }).end(body));
    });
  }

  it('is asked with a nonce and for its certificate, and its token is passed on as it is', async () => {
    const authority = remoteAuthority(openssl.url, ANY);
    const { token, genTime } = await authority.stamp(DIGEST);
    expect(await opensslVerify(token, DIGEST, openssl.rootFile)).toBe('Verification: OK');
    expect(Math.abs(genTime.getTime() - Date.now())).toBeLessThan(60_000);
    expect(authority).toMatchObject({ kind: 'external', url: openssl.url });
    expect(openssl.queries.at(-1)).toMatch(/Hash Algorithm: sha256[\s\S]*Nonce: 0x[0-9A-F]+[\s\S]*required: yes/);
  });

  it('is asked with another nonce each time', async () => {
    const authority = remoteAuthority(openssl.url, ANY);
    await authority.stamp(DIGEST);
    await authority.stamp(DIGEST);
    const nonces = openssl.queries.slice(-2).map((query) => /Nonce: (\S+)/.exec(query)?.[1]);
    expect(new Set(nonces).size).toBe(2);
  });

  it('is not believed when it replays an earlier answer, or one about another digest', async () => {
    const authority = remoteAuthority(openssl.url, ANY);
    const { token } = await authority.stamp(DIGEST);
    const replaying = remoteAuthority(await answering(token), ANY);
    await expect(replaying.stamp(DIGEST)).rejects.toMatchObject({
      code: 'service',
      message: expect.stringMatching(/nonce/),
    });
    await expect(replaying.stamp(OTHER_DIGEST)).rejects.toMatchObject({
      code: 'service',
      message: expect.stringMatching(/another digest/),
    });
  });

  const rejected = Buffer.from('30053003020102', 'hex');
  it.each([
    ['a rejection', rejected, 200, undefined, 'service', /did not grant a token \(status 2/],
    ['no DER', Buffer.from('nonsense'), 200, undefined, 'service', /no RFC 3161 token/],
    ['something after the DER', Buffer.concat([rejected, rejected]), 200, undefined, 'service', /no RFC 3161 token/],
    ['a page', Buffer.from('<html>'), 200, 'text/html', 'service', /text\/html/],
    ['an error', Buffer.from(''), 503, undefined, 'service', /503/],
    ['a redirect', Buffer.from(''), 302, undefined, 'service', /302/],
    ['too much', Buffer.alloc(70_000), 200, undefined, 'service', /64 KiB/],
  ])('is refused when it answers with %s', async (_what, body, status, type, code, message) => {
    const url = await answering(body, status, type);
    await expect(remoteAuthority(url, ANY).stamp(DIGEST)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('is unreachable when nobody listens, and its password is in no message', async () => {
    const url = new URL(await serve(() => undefined));
    server?.close();
    url.username = 'me';
    url.password = 'hunter2';
    const authority = remoteAuthority(url.href, ANY);
    const error: unknown = await authority.stamp(DIGEST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unreachable' });
    expect(`${error} ${authority.url}`).not.toContain('hunter2');
  });

  it('gets the password that its URL names', async () => {
    let authorization: string | undefined;
    const url = new URL(
      await serve((request, response) => {
        authorization = request.headers.authorization;
        response.writeHead(401).end();
      }),
    );
    url.username = 'me';
    url.password = 'hunter2';
    await expect(remoteAuthority(url.href, ANY).stamp(DIGEST)).rejects.toMatchObject({ code: 'service' });
    expect(authorization).toBe(`Basic ${Buffer.from('me:hunter2').toString('base64')}`);
  });

  it('is given up when it does not end its answer in time', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).write('0');
    });
    await expect(remoteAuthority(url, ANY, 300).stamp(DIGEST)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it.each(['ftp://x/', 'nonsense'])('cannot be at %s', (url) => {
    expect(() => remoteAuthority(url, ANY)).toThrow(expect.objectContaining({ code: 'config' }));
  });
});
