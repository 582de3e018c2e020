import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAX_SECRET, SecretWatch, scrubber } from '../../src/core/secret.ts';
import { evidence } from '../support/evidence.ts';
import { json, type Reply, startFaultServer } from '../support/fault-server.ts';
import { startFaultyService } from '../support/services/faulty.ts';

const KEY = 'sk_live/0+123"456&789?abc';

const percent = [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Quotations of the secret by gateways, proxies and careless programs. */
const QUOTED: [string, string][] = [
  ['as it is', `Bearer ${KEY}`],
  ['in JSON', JSON.stringify({ key: KEY })],
  ['in JSON, with escaped slashes', JSON.stringify(KEY).replaceAll('/', '\\/')],
  ['in JSON, with escapes throughout', [...KEY].map((sign) => `\\u00${sign.charCodeAt(0).toString(16)}`).join('')],
  ['in a URL', `?key=${encodeURIComponent(KEY)}`],
  ['in a URL, sign by sign', percent],
  ['in a URL, sign by sign, in capitals', percent.toUpperCase().replaceAll('%2F', '%2f')],
  ['in a URL, in part', KEY.replace('s', '%73')],
  ['in HTML', [...KEY].map((sign) => `&#${sign.charCodeAt(0)};`).join('')],
  ['in HTML, in hex', [...KEY].map((sign) => `&#x${sign.charCodeAt(0).toString(16).toUpperCase()};`).join('')],
  ['in hex', Buffer.from(KEY).toString('hex').toUpperCase()],
  ['in base64', base64(KEY)],
  ['in base64, with a user', base64(`me:${KEY}`)],
  ['in base64, in a header', base64(`Bearer ${KEY} `)],
  ['in base64 for URLs', Buffer.from(`x${KEY}`).toString('base64url')],
];

describe('a secret is taken out of a text', () => {
  test.each(QUOTED)('%s', (_words, quoted) => {
    const clean = scrubber(KEY)(`before ${quoted} after`);
    expect(clean).toMatch(/^before .*\*\*\*.* after$/s);
    for (const form of [KEY, KEY.slice(2, -2), base64(KEY).slice(4, -4), percent.slice(6, -6)])
      expect(clean.toLowerCase()).not.toContain(form.toLowerCase());
  });

  test('and nothing else is', () => {
    const text = `sk_live/0+123"456&789 and the rest of ${base64('another key altogether')}`;
    expect(scrubber(KEY)(text)).toBe(text);
  });
});

describe('a secret is found in what arrives in pieces', () => {
  const found = (text: string, size: number) => {
    const watch = new SecretWatch(KEY);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) watch.push(bytes.subarray(at, at + size));
    return watch.isFound;
  };
  test.each(QUOTED)('%s', (_words, quoted) => {
    const text = `${'before '.repeat(100)}${quoted}${' after'.repeat(100)}`;
    for (const size of [1, 2, 7, 64, 701, 710, 4096]) expect(found(text, size), `in pieces of ${size}`).toBe(true);
  });

  test.each([
    ['a part of it', `${KEY.slice(0, -1)} `],
    ['its signs in another order', [...KEY].reverse().join('')],
    ['escapes of something else', '\\u00e4 100% &#64;'],
  ])('and %s is not it', (_words, text) => {
    for (const size of [1, 7, 64]) expect(found(text.repeat(50), size)).toBe(false);
  });

  test('and one that is short stands anywhere by chance', () => {
    const watch = new SecretWatch('key');
    watch.push(Buffer.from('key'));
    expect(watch.isFound).toBe(false);
  });
});

describe('a secret that is too long', () => {
  const LONG = 'long-secret-'.repeat(2000);

  test('is taken out of texts as it is, by no expression', () => {
    expect(scrubber(LONG)(`a ${LONG} b`)).toBe('a *** b');
  });

  test.each([
    ['EVIDENCE_API_KEY', {}],
    ['EVIDENCE_SIGNING_PASSPHRASE', { EVIDENCE_API_KEY: KEY }],
  ])('in %s is refused, and nothing of it is printed', async (variable, env) => {
    const cwd = mkdtempSync(join(tmpdir(), 'secrets-'));
    const deps = { EVIDENCE_AUDIT_URL: 'http://127.0.0.1:9', ...env, [variable]: LONG };
    const { code, stdout, stderr } = await evidence(['export', '--all-time'], { cwd, env: deps });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`has ${LONG.length} characters; the maximum is ${MAX_SECRET}`));
    expect(stderr).not.toMatch(/long-secret|RegExp|regular expression/i);
  });
});

/** Returns everything that an export wrote and printed, except for the forms, which contain the service's own words. */
async function exportedBy(
  echo: (truth: Reply) => Reply,
  refuse: (step: string) => Reply | undefined = () => undefined,
) {
  const service = await startFaultyService({
    apiKey: KEY,
    streams: new Map([['payments', 3]]),
    fault: ({ step }, truth) => refuse(step) ?? echo(truth),
  });
  const cwd = mkdtempSync(join(tmpdir(), 'secrets-'));
  const env = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY };
  const { code, stdout, stderr } = await evidence(['export', '--all-time', '--json'], { cwd, env });
  await service.close();
  const root = join(cwd, 'evidence-archive');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(root, name)).isFile(),
  );
  const texts = files.map((name) =>
    name.endsWith('.zip')
      ? execFileSync('unzip', ['-p', join(root, name), '-x', '*/data/evidence.*', '*/data/summary.*'], {
          encoding: 'latin1',
        })
      : readFileSync(join(root, name), 'latin1'),
  );
  return { code, files, all: [stdout, stderr, ...texts].join('\n') };
}

const FORMS = [KEY, JSON.stringify(KEY).slice(1, -1), encodeURIComponent(KEY), base64(KEY), percent];

test.each(['x-request-id', 'date', 'etag', 'x-correlation-id', 'last-modified', 'x-powered-by'])(
  'what a gateway echoes in %s is in nothing that is kept or printed',
  async (header) => {
    const value = `${encodeURIComponent(KEY)} ${KEY} ${base64(`Bearer ${KEY}`)} ${percent}`;
    const { code, files, all } = await exportedBy((truth) => ({
      ...truth,
      headers: { ...truth.headers, [header]: value },
    }));
    expect([code, files.some((name) => name.endsWith('.zip'))]).toEqual([0, true]);
    for (const form of FORMS) expect(all).not.toContain(form);
    if (header === 'x-request-id') expect(all).toContain('*** *** ');
  },
);

test.each<[string, Reply]>([
  [
    'problem details',
    {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ detail: `no ${encodeURIComponent(KEY)} or ${KEY}` }),
    },
  ],
  ['text', { headers: { 'content-type': 'text/plain' }, body: `no ${base64(KEY)} or ${KEY}` }],
  ['a content type', { headers: { 'content-type': `text/html; key="${percent}"` }, body: '<p>' }],
])('a refusal that quotes it in %s is recorded without it', async (_words, reply) => {
  const refused = { status: 400, ...reply };
  const { code, all } = await exportedBy(
    (truth) => truth,
    (step) => (step === 'verify' || step === 'pdf' ? refused : undefined),
  );
  expect(code).toBe(3);
  for (const form of FORMS) expect(all).not.toContain(form);
});

test('a redirect that quotes it is followed, and recorded without it', async () => {
  const quoted = `key=${encodeURIComponent(KEY)}`;
  const seen: string[] = [];
  const service = await startFaultServer(({ path }) => {
    seen.push(path);
    return path.includes('key=')
      ? { status: 404, body: '' }
      : { status: 307, headers: { location: `/away?${quoted}` } };
  });
  const env = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: KEY };
  const { stdout, stderr } = await evidence(['streams', '--json'], {
    cwd: mkdtempSync(join(tmpdir(), 'secrets-')),
    env,
  });
  await service.close();
  expect(seen.at(-1)).toContain(quoted);
  for (const form of FORMS) expect(stdout + stderr).not.toContain(form);
});

test.each([
  ['generate', { package_id: `pkg-${KEY}`, status: 'ready', stream_id: 'payments' }],
  ['verify', { verified: true, checked_at: KEY }],
  ['streams', { data: [{ stream_id: `payments ${KEY}` }], next_cursor: null }],
])('an answer of %s that holds the key gives nothing that is recorded', async (where, body) => {
  const { all } = await exportedBy(
    (truth) => truth,
    (step) => (step === where ? json(body) : undefined),
  );
  for (const form of FORMS) expect(all).not.toContain(form);
});
