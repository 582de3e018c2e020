import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readRoots } from '../../../src/core/timestamp/roots.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { AuthorityClient } from '../../../src/exporter/client/authority.ts';
import { keepStamp, requestStamp } from '../../../src/exporter/export/stamp.ts';
import { type Answer, type FaultServer, type Reply, startFaultServer, unusedUrl } from '../../support/fault-server.ts';
import { type Authority, answering, genTimeAt, newAuthority } from '../../support/forging-authority.ts';
import { digestOf, type Issued, statusInfo } from '../../support/tsa-forge.ts';

const NOW = new Date('2026-03-01T12:00:30Z');
const DIGEST = 'ab'.repeat(32);
const STAMPS = { stored: [], next: { key: 'runs/r/run.tsr', digest: DIGEST } };

let authority: Authority;
let stranger: Authority;
let ended: Authority;
beforeAll(async () => {
  authority = await newAuthority('Authority');
  stranger = await newAuthority('Stranger');
  ended = await newAuthority('Ended', { to: '2026-02-01' });
});

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

interface MissingOptions {
  signal?: AbortSignal;
  outlasting?: Date;
  roots?: Issued;
  credentials?: string;
}

function ask(url: string, { signal, outlasting, roots, credentials = '' }: MissingOptions = {}) {
  const client = new AuthorityClient({
    url: new URL(url.replace('//', `//${credentials}`)),
    userAgent: 'test/1',
    timeoutMs: 500,
    attempts: 2,
    signal: signal ?? new AbortController().signal,
  });
  open.push(client);
  const stamping = { authority: client, roots: readRoots((roots ?? authority.root).pem, 'roots') };
  const notBefore = new Date('2026-03-01T12:00:00Z');
  return requestStamp(STAMPS, stamping, { notBefore, outlasting: outlasting ?? null, now: NOW });
}

async function serve(...replies: (Reply | Answer)[]): Promise<FaultServer> {
  const server = await startFaultServer(...replies);
  open.push(server);
  return server;
}

test('a token that holds in every respect is given back, and kept once', async () => {
  const { url, requests } = await serve((request) => answering(authority)(request));
  const stamp = await ask(`${url}/tsr?account=7`);
  expect(stamp.verdict).toMatchObject({
    state: 'proved',
    time: new Date('2026-03-01T12:00:00Z'),
    until: new Date('2027-01-01'),
  });
  expect(
    requests.map(({ method, path, headers }) => [method, path, headers['content-type'], headers.authorization]),
  ).toEqual([['POST', '/tsr?account=7', 'application/timestamp-query', undefined]]);
  const archive = openMemoryArchive();
  await keepStamp(archive, stamp);
  const other = await ask(`${url}/tsr`);
  await keepStamp(archive, other);
  expect(Buffer.from(await archive.readBytes('runs/r/run.tsr', 1e5)).equals(stamp.der)).toBe(true);
});

test('each question has a nonce of its own', async () => {
  const { url, requests } = await serve((request) => answering(authority)(request));
  await ask(url);
  await ask(url);
  expect(requests[0]?.bytes.equals(requests[1]?.bytes ?? Buffer.alloc(0))).toBe(false);
});

const LYING: [string, () => Answer, RegExp][] = [
  [
    'another digest',
    () => answering(authority, { imprint: digestOf('sha256', Buffer.from('x')) }),
    /over another digest/,
  ],
  ['another nonce', () => answering(authority, { nonce: 7 }), /its nonce is not ours/],
  ['no nonce', () => answering(authority, { nonce: null }), /its nonce is not ours/],
  ['another root', () => answering(stranger), /no path leads .* to a pinned root/],
  ['a certificate that has ended', () => answering(ended), /valid from/],
  [
    'a certificate that has ended, and a time at which it had not',
    () => answering(ended, { genTime: genTimeAt('2026-01-15') }),
    /of 2026-01-15T00:00:00.000Z, and .* a later time/,
  ],
  ['a time before the run', () => answering(authority, { genTime: genTimeAt('2026-03-01T11:00:00Z') }), /a later time/],
  ['somebody else who signs', () => answering(authority, { signedWith: stranger.signer.key }), /signature/],
  [
    'no token',
    () => () => ({ body: Buffer.from('3005300302010 2'.replaceAll(' ', ''), 'hex') }),
    /did not grant|no RFC 3161/,
  ],
  ['a refusal with a token', () => answering(authority, { status: statusInfo(2) }), /did not grant/],
  ['a page', () => () => ({ headers: { 'content-type': 'text/html' }, body: '<html>' }), /no RFC 3161 token/],
  ['nothing', () => () => ({ body: '' }), /no RFC 3161 token/],
  ['half a token', () => (request) => halved(answering(authority)(request) as Reply), /no RFC 3161 token/],
];
describe('a lying authority: what it answers is not kept', () => {
  test.each(LYING)('%s', async (_words, make, message) => {
    const answer = make();
    const { url, requests } = await serve((request) => answer(request));
    await expect(ask(url, { roots: _words.includes('has ended') ? ended.root : authority.root })).rejects.toMatchObject(
      {
        code: 'service',
        message: expect.stringMatching(message),
        nextStep: expect.stringMatching(/run the same command again/),
      },
    );
    expect(requests).toHaveLength(1);
  });

  test('a certificate that ends no later than that of the token to be renewed', async () => {
    const { url } = await serve((request) => answering(authority)(request));
    await expect(ask(url, { outlasting: new Date('2027-01-01') })).rejects.toMatchObject({
      code: 'service',
      message: expect.stringMatching(/still uses a certificate that expires on 2027-01-01/),
    });
    expect((await ask(url, { outlasting: new Date('2026-12-31') })).verdict.state).toBe('proved');
  });
});

const DEAD: [string, Reply, string, RegExp, number][] = [
  ['503', { status: 503 }, 'service', /answered 503/, 2],
  ['404', { status: 404 }, 'service', /answered 404/, 1],
  ['401', { status: 401 }, 'refused', /answered 401/, 1],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, 'service', /answered 302/, 1],
  ['silence', { end: 'silence' }, 'unreachable', /no answer within 0.5 seconds/, 2],
  [
    'half of an answer, then silence',
    { body: 'x'.repeat(100), end: 'stall' },
    'unreachable',
    /no complete answer within/,
    2,
  ],
  ['half of an answer', { body: 'x'.repeat(100), end: 'cut' }, 'unreachable', /does not answer/, 2],
  ['a reset', { end: 'reset' }, 'unreachable', /does not answer/, 2],
  ['an answer without end', { body: endless() }, 'service', /more than 64 KiB/, 1],
];
describe('a dead authority', () => {
  test.each(DEAD)('%s', async (_words, reply, code, message, times) => {
    const { url, requests } = await serve(reply);
    await expect(ask(url)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(requests).toHaveLength(times);
  });

  test('nobody there', async () => {
    await expect(ask(await unusedUrl())).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  test('one that is there again at the second attempt', async () => {
    const { url } = await serve({ status: 503 }, (request) => answering(authority)(request));
    expect((await ask(url)).verdict.state).toBe('proved');
  });

  test('an interruption ends the waiting at once, with its own reason', async () => {
    const controller = new AbortController();
    const reason = new Error('Ctrl-C');
    const { url } = await serve({ status: 503 }, () => {
      controller.abort(reason);
      return { end: 'silence' };
    });
    await expect(ask(url, { signal: controller.signal })).rejects.toBe(reason);
  });
});

test('user and password go to the authority and into no message', async () => {
  const { url, requests } = await serve({ status: 403 });
  const refused = await ask(`${url}/tsr?token=s3cret`, { credentials: 'me:p%40ss@' }).then(
    () => null,
    (error: Error) => error,
  );
  expect(requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  expect(refused?.message).toContain(`${url}/tsr answered 403`);
  expect(JSON.stringify([refused?.message, refused?.stack])).not.toMatch(/p%40ss|p@ss|s3cret/);
});

function halved(reply: Reply): Reply {
  const bytes = Buffer.from(reply.body as Uint8Array);
  return { ...reply, body: bytes.subarray(0, bytes.length >> 1) };
}

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(16_384);
}
