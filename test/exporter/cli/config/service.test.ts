import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Printer } from '../../../../src/core/terminal/printer.ts';
import { loadConfig } from '../../../../src/exporter/cli/config/config.ts';
import { connectService } from '../../../../src/exporter/cli/config/service.ts';
import { json, type Reply, startFaultServer } from '../../../support/fault-server.ts';
import { makeCertificates } from '../../client/certificates.ts';

const { ca, server: identity, client } = makeCertificates();
const open: (AsyncDisposable | { close(): unknown })[] = [];
const silent = { write: () => true };
const printer = new Printer({ json: false, quiet: true, stdout: silent, stderr: silent });

afterAll(async () => {
  await Promise.all(open.splice(0).map((one) => ('close' in one ? one.close() : one[Symbol.asyncDispose]())));
});

/** Connects with a configuration file, a key in the environment, and a client's files. */
async function connect(source: string) {
  const folder = mkdtempSync(join(tmpdir(), 'service-'));
  const files = { 'ca.pem': ca, 'cert.pem': client.cert, 'key.pem': client.key, 'evidence.yaml': `source: ${source}` };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const config = await loadConfig({}, { EVIDENCE_API_KEY: 'sk_env' }, folder);
  const service = connectService(config.source, printer, new AbortController().signal);
  open.push(service);
  return service;
}

async function countStreams(source: string, service = connect(source)): Promise<number> {
  const { client: asked } = await service;
  let count = 0;
  for await (const _stream of asked.listStreams()) count++;
  return count;
}

const PAGE = { data: [], next_cursor: null };

test('certificates of the configuration are believed and shown', async () => {
  const server = createServer({ ...identity, ca, requestCert: true, rejectUnauthorized: true }, (_incoming, outgoing) =>
    outgoing.end(JSON.stringify(PAGE)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => server.close().closeAllConnections() });
  const audit_url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tls = { ca_file: 'ca.pem', cert_file: 'cert.pem', key_file: 'key.pem' };
  expect(await countStreams(JSON.stringify({ audit_url, tls }))).toBe(0);
  await expect(countStreams(JSON.stringify({ audit_url }))).rejects.toMatchObject({ code: 'unreachable' });
});

// The tests wait for independent limits, so they run concurrently.
describe.concurrent('limits of the configuration hold', () => {
  const cases: [string, object, Reply, string, RegExp][] = [
    ['the size of JSON', { limits: { json_bytes: 20 } }, json(PAGE), 'service', /more than 20 bytes/],
    [
      'the wait for an answer',
      { timeouts: { headers_seconds: 0.1 } },
      { end: 'silence' },
      'unreachable',
      /HEADERS_TIMEOUT/,
    ],
    [
      'the wait for more of it',
      { timeouts: { idle_seconds: 0.1 } },
      json(PAGE, { end: 'stall' }),
      'unreachable',
      // The timers of undici are coarse: they may fire after five times the limit.
      /BODY_TIMEOUT|sent \d+ bytes in 0.5 seconds/,
    ],
  ];
  test.each(cases)('%s', async (_words, more, reply, code, message) => {
    const server = await startFaultServer(reply);
    open.push(server);
    const listing = countStreams(JSON.stringify({ audit_url: server.url, ...more }));
    await expect(listing).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('the size of a package', async () => {
    const server = await startFaultServer({ body: '{"a":1}' });
    open.push(server);
    const service = await connect(JSON.stringify({ audit_url: server.url, limits: { package_bytes: 6 } }));
    const file = join(mkdtempSync(join(tmpdir(), 'service-')), 'file');
    const download = service.client.download('p', 'json', file, { restart: () => {}, chunk: () => {} });
    await expect(download).rejects.toMatchObject({ message: expect.stringContaining('more than 6 bytes') });
  });

  test('the rate', async () => {
    const server = await startFaultServer(json(PAGE));
    open.push(server);
    const source = JSON.stringify({ audit_url: server.url, rate: { requests_per_second: 5 } });
    const service = connect(source);
    // The first request may arrive late, but not early.
    const began = performance.now();
    for (let count = 0; count < 3; count++) await countStreams(source, service);
    expect((server.requests.at(2)?.at ?? 0) - began).toBeGreaterThan(380);
  });
});

describe('what cannot be used is said before anything is sent', () => {
  const address = { audit_url: 'https://audit.test' };
  const cases: [string, object, RegExp][] = [
    ['no address', {}, /no audit service/],
    [
      'an absent file',
      { ...address, tls: { ca_file: 'absent.pem' } },
      /source\.tls\.ca_file, .*absent\.pem, does not exist/,
    ],
    ['a key of nothing', { ...address, tls: { cert_file: 'cert.pem', key_file: 'ca.pem' } }, /source\.tls: /],
  ];
  test.each(cases)('%s', async (_words, source, message) => {
    const error = await connect(JSON.stringify(source)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'config', message: expect.stringMatching(message) });
  });
});
