import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { entry, fill, type Service, startService } from '../platform/service.ts';
import { fencedIn, readDocument } from '../support/documents.ts';
import { freePort } from '../support/ports.ts';
import { run, runToEnd } from '../support/process.ts';

const NAME = 'audit.example.com';
const PASSWORD = 'a long walk by the sea';
const BATCH_BYTES = 8 * 1024 * 1024;
/** Refused keys per minute from one address; the next request gets a 429. */
const REFUSALS = 3;

/** Commands of a proxy from the topic. */
interface Proxy {
  check: readonly string[];
  serve: readonly string[];
  /** Root certificate of the proxy. */
  root: string;
}

let folder: string;
let service: Service;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tls-proxies-'));
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  service = await startService({
    // Value in the topic.
    trustedProxies: ['127.0.0.1', '::1'],
    rateLimits: { requestsPerMinute: 10_000, refusalsPerMinute: REFUSALS },
    environment: { EVIDENCE_BOOTSTRAP_EMAIL: 'ada@example.com', EVIDENCE_BOOTSTRAP_PASSWORD_FILE: passwordFile },
  });
  await fill(service, 'large', 20_000);
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

describe.each([
  { name: 'Caddy', write: writeCaddy, block: 0, addresses: ['127.0.0.2', '127.0.0.3'] },
  { name: 'nginx', write: writeNginx, block: 1, addresses: ['127.0.0.4', '127.0.0.5'] },
])('$name as the topic has it', ({ name, write, block, addresses }) => {
  let home: string;
  let proxy: Proxy;
  let running: ChildProcess;
  let port: number;
  /** Requests a path as a remote client that sees only the TLS port. */
  const ask = async (path: string, ...words: string[]) => {
    const to = ['--connect-to', `${NAME}:443:127.0.0.1:${port}`, '--cacert', proxy.root];
    const { stdout } = await runToEnd('curl', ['-si', ...to, ...words, `https://${NAME}${path}`], { cwd: home });
    const [head = '', text = ''] = stdout.replace(/^HTTP\/\S+ 100\b.*?\r\n\r\n/s, '').split(/\r\n\r\n(.*)/s);
    return { status: Number(/^HTTP\/\S+ (\d+)/.exec(head)?.[1]), head, text };
  };
  const withKey = ['-H', 'content-type: application/json', '-H'];

  beforeAll(async () => {
    home = join(folder, name);
    mkdirSync(home);
    port = await freePort();
    const excerpt = fencedIn(readDocument('templates/help/platform/tls.md')).filter(({ language }) => language === '');
    const text = excerpt[block]?.text.replace('127.0.0.1:8181', new URL(service.origin).host) ?? '';
    proxy = await write(home, text, port);
    withKey.push(`authorization: Bearer ${service.apiKey}`);
    const [program = '', ...words] = proxy.serve;
    running = spawn(program, words, { env: atHome(home), stdio: 'ignore' });
    await vi.waitFor(async () => expect((await ask('/health')).status).toBe(200), 60_000);
  });
  afterAll(async () => {
    const ended = once(running, 'exit');
    running.kill('SIGTERM');
    await ended;
  });

  test('it takes the settings', async () => {
    const [program = '', ...words] = proxy.check;
    const { code, stderr } = await runToEnd(program, words, { cwd: home, env: atHome(home) });
    expect(code, stderr).toBe(0);
  });

  test('somebody signs in, with a cookie for TLS alone', async () => {
    const jar = ['-b', 'jar', '-c', 'jar'];
    const page = await ask('/app/sign-in', ...jar);
    expect(page.status).toBe(200);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const typed = { csrf, email: 'ada@example.com', password: PASSWORD };
    const form = Object.entries(typed).flatMap(([field, value]) => ['--data-urlencode', `${field}=${value}`]);
    const { status, head } = await ask('/app/sign-in', ...jar, '-H', `origin: https://${NAME}`, ...form);
    expect([status, head]).toEqual([303, expect.stringMatching(/set-cookie: evidence_session=[^\r]*; Secure/i)]);
  });

  test('a batch as large as any goes through', async () => {
    const metadata = { text: 'x'.repeat(60_000) };
    const entries = Array.from({ length: 130 }, (_, number) => entry(name, number, { metadata }));
    // Trailing spaces pad the body to the limit.
    const bytes = JSON.stringify({ entries }).padEnd(BATCH_BYTES);
    expect(bytes.length).toBe(BATCH_BYTES);
    writeFileSync(join(home, 'batch.json'), bytes);
    const sent = await ask('/audit/entries/batch', ...withKey, '--data-binary', '@batch.json');
    expect(sent.status, sent.text.slice(0, 500)).toBe(201);
  });

  test('who sends bad keys has to wait, whatever they say of where they are, and nobody else has to', async () => {
    const [here = '', there = ''] = addresses;
    const refused = async (address: string, said: number) =>
      (await ask('/audit/streams/', '--interface', address, '-H', `x-forwarded-for: 192.0.2.${said}`)).status;
    for (let number = 0; number < REFUSALS; number++) expect(await refused(here, number)).toBe(401);
    expect(await refused(here, REFUSALS)).toBe(429);
    expect(await refused(there, 0)).toBe(401);
  });

  test('a package is passed on at the pace of its reader, and laid down nowhere', async () => {
    const body = JSON.stringify({ stream_id: 'large' });
    const made = JSON.parse((await ask('/audit/evidence/generate', ...withKey, '-d', body)).text);
    const slow = ['--limit-rate', '4M'];
    const { status, text } = await ask(`/audit/evidence/${made.package_id}/json`, ...withKey, ...slow);
    expect([status, JSON.parse(text).entry_count]).toEqual([200, 20_000]);
    expect(readFileSync(join(home, 'log'), 'utf8')).not.toMatch(/upstream response is buffered/);
  });
});

/** Replaces the folders of a signed-in user. */
function atHome(home: string): Record<string, string> {
  return { ...(process.env as Record<string, string>), HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
}

/** Replaces the authority that Caddy would use. */
async function writeCaddy(home: string, excerpt: string, port: number): Promise<Proxy> {
  const file = join(home, 'Caddyfile');
  const log = `log {\n output file ${join(home, 'log')}\n}`;
  const own = `local_certs\nskip_install_trust\nadmin off\nauto_https disable_redirects\ndefault_bind 127.0.0.1`;
  writeFileSync(file, `{\n${own}\nhttps_port ${port}\n${log}\n}\n${excerpt}`);
  const words = ['--config', file, '--adapter', 'caddyfile'];
  const root = join(home, 'caddy/pki/authorities/local/root.crt');
  return { check: ['caddy', 'validate', ...words], serve: ['caddy', 'run', ...words], root };
}

/** Adds a certificate and folders of the test. */
async function writeNginx(home: string, excerpt: string, port: number): Promise<Proxy> {
  const [certificate, key] = [join(home, 'own.pem'), join(home, 'own.key')];
  const made = ['-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  await run('openssl', ['req', '-x509', ...made, '-keyout', key, '-out', certificate], home);
  const site = excerpt
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace(`/etc/ssl/${NAME}.pem`, certificate)
    .replace(`/etc/ssl/private/${NAME}.key`, key);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${home}/${kind};`,
  );
  const process_ = `daemon off; master_process off; pid ${home}/pid; error_log ${home}/log warn;`;
  writeFileSync(
    join(home, 'nginx.conf'),
    `${process_}\nevents {}\nhttp {\n access_log off; ${folders.join(' ')}\n${site}}\n`,
  );
  const words = ['-p', home, '-c', join(home, 'nginx.conf'), '-e', join(home, 'log')];
  return { check: ['nginx', '-t', ...words], serve: ['nginx', ...words], root: certificate };
}
