import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import type { Tls } from '../../../src/exporter/client/dispatcher.ts';
import { makeCertificates } from './certificates.ts';
import { connectTo, failure } from './connect.ts';

const { ca, server: identity, client } = makeCertificates();
const open: { close(): unknown }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** Starts a server that answers with the name in the client's certificate. */
async function serve(more: { requestCert?: boolean; rejectUnauthorized?: boolean } = {}) {
  let requests = 0;
  const server = createServer({ ...identity, ca, ...more }, (incoming, outgoing) => {
    requests++;
    const { subject } = (incoming.socket as TLSSocket).getPeerCertificate();
    outgoing.end(JSON.stringify({ client: subject?.CN ?? null }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => server.close().closeAllConnections() });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
}

function ask(url: string, tls?: Tls) {
  const transport = connectTo(url, { attempts: 2, ...(tls === undefined ? {} : { tls }) });
  open.push(transport);
  return transport.json({ method: 'GET', url, repeatable: true });
}

test('an authority of its own is believed when it is named', async () => {
  const server = await serve();
  expect((await ask(server.url, { ca })).value).toEqual({ client: null });
});

test('one that is not named is not, with what to do', async () => {
  const server = await serve();
  for (const tls of [undefined, { ca: client.cert }]) {
    const error = await failure(ask(server.url, tls));
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringMatching(/certificate.*\([A-Z_]+\)/) });
    expect(error.nextStep).toContain('source.tls.ca_file');
  }
  expect(server.requests()).toBe(0);
});

test('a certificate of another host is not believed', async () => {
  const { url } = await serve();
  const error = await failure(ask(url.replace('127.0.0.1', 'localhost'), { ca }));
  expect(error).toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
  });
});

test('a certificate is shown to a service that wants one', async () => {
  const server = await serve({ requestCert: true, rejectUnauthorized: true });
  expect((await ask(server.url, { ca, ...client })).value).toEqual({ client: 'client' });
  expect((await failure(ask(server.url, { ca }))).code).toBe('unreachable');
  expect(server.requests()).toBe(1);
});

describe('what cannot be used is refused at once, without a word of the key', () => {
  const cases: [string, Tls][] = [
    ['a key that is none', { cert: client.cert, key: 'no key sk_secret' }],
    ['a key of another certificate', { cert: client.cert, key: identity.key }],
    ['a certificate that is none', { cert: 'x', key: client.key }],
  ];
  test.each(cases)('%s', (_words, tls) => {
    const connect = () => connectTo('https://audit.test', { tls });
    expect(connect).toThrow(expect.objectContaining({ code: 'config', message: expect.stringMatching(/source\.tls/) }));
    let text = '';
    try {
      connect();
    } catch (error) {
      text = String((error as Error).stack) + JSON.stringify(error) + String((error as Error).cause);
    }
    for (const line of `${tls.key}`.split('\n').filter((one) => one.length > 8)) expect(text).not.toContain(line);
  });
});
