import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Check } from '../../../src/exporter/check.ts';
import { runDoctor } from '../../../src/exporter/cli/commands/doctor.ts';
import { runExport } from '../../../src/exporter/cli/commands/export.ts';
import { configSchema } from '../../../src/exporter/cli/config/config-file.ts';
import { carryOut } from '../../support/command.ts';
import { json } from '../../support/fault-server.ts';
import { type KeyFiles, makeKey } from '../../support/openssl-keys.ts';
import { type FaultyService, startFaultyService } from '../../support/services/faulty.ts';

const folder = mkdtempSync(join(tmpdir(), 'settings-'));
const KEY = 'sk_settings_0123456789';
let service: FaultyService;
/** Service whose streams do not fit the default contract. */
let other: FaultyService;
let key: KeyFiles;

beforeAll(async () => {
  const honest = { apiKey: KEY, streams: new Map([['payments', 2]]), fault: () => undefined };
  service = await startFaultyService(honest);
  other = await startFaultyService({
    ...honest,
    fault: ({ step }) => (step === 'streams' ? json({ data: [{ name: 'payments' }], next_cursor: null }) : undefined),
  });
  key = await makeKey(folder, 'signing.pem', 'ed25519');
  const { privateKey } = generateKeyPairSync('ed25519');
  const locked = privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'hunter2-hunter2',
  });
  writeFileSync(join(folder, 'locked.pem'), locked, { mode: 0o600 });
  const files = {
    'not-a-key.pem': 'text',
    'empty.key': '',
    'bad.key': 'hex:0',
    'own.yaml': 'controls: 5',
    'contract.yaml': 'format: 5',
    'wrong.txt': 'another passphrase',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'a-folder.pem'));
});
afterAll(() => Promise.all([service.close(), other.close()]));

/** Invalid settings; all others are valid. */
interface Wrong {
  /** Values of the configuration file, by the paths of their keys. */
  file?: Record<string, unknown>;
  flags?: Record<string, unknown>;
  env?: Record<string, string>;
}

function fileOf(settings: Record<string, unknown>): object {
  const file: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(settings)) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    let section = file;
    for (const name of names) {
      section[name] ??= {};
      section = section[name] as Record<string, unknown>;
    }
    section[last] = value;
  }
  return file;
}

/** Runs export, dry run and doctor with these settings. */
async function threeTimes({ file = {}, flags = {}, env = {} }: Wrong) {
  const directory = mkdtempSync(join(folder, 'case-'));
  const settings = { 'archive.url': './archive', work_directory: folder, ...file };
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify(fileOf(settings)));
  const environment = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY, ...env };
  for (const [name, value] of Object.entries(environment))
    if (value === '') delete environment[name as keyof typeof environment];
  const run = async (command: typeof runExport | typeof runDoctor, more: object) =>
    carryOut(command as typeof runExport, { ...flags, ...more }, directory, { environment });
  const doctor = await run(runDoctor, {});
  const { checks = [] } = JSON.parse(doctor.stdout) as { checks?: Check[] };
  const complaints = checks.filter(({ state }) => state === 'failed').map(({ says }) => says);
  const dry = await run(runExport, { 'all-time': true, 'dry-run': true });
  const there = readdirSync(directory);
  const real = await run(runExport, { 'all-time': true });
  return { doctor: { ...doctor, complaints }, dry, real, there };
}

const inFolder = (name: string) => join(folder, name);
const absent = '/nowhere/absent.pem';

/** Every key of the configuration, by its path, with at least one invalid value. */
const OF_FILE: [path: string, value: unknown, says: RegExp, code?: number][] = [
  [
    'deadline',
    'soon',
    /deadline in evidence\.yaml is not a time in seconds, minutes or hours of up to seven days: "soon"/,
  ],
  ['deadline', '8d', /up to seven days: "8d"/],
  ['deadline', '0s', /up to seven days: "0s"/],
  ['deadline', '169h', /up to seven days: "169h"/],
  ['notify.ping_url_file', absent, /the address of the ping \(notify\.ping_url_file\), .*absent\.pem, does not exist/],
  [
    'notify.webhook_url_file',
    inFolder('contract.yaml'),
    /the address of the webhook is not an http:\/\/ or https:\/\/ URL/,
  ],
  ['notify.webhook_secret_file', absent, /the secret of the webhook \(notify\.webhook_secret_file\), .*does not exist/],
  ['notify.metrics_file', 5, /metrics_file: expected text/],
  ['queue.url_file', absent, /the address of the queue \(queue\.url_file\), .*absent\.pem, does not exist/],
  ['queue.schema', 'Audit Queue', /schema: a schema name consists of lowercase letters/],
  ['source.audit_url', '127.0.0.1:7581/audit', /audit_url: expected a URL that starts with http/],
  ['source.audit_url', 'ftp://x', /audit_url: expected a URL that starts with http/],
  ['source.traps_url', 'traps.example', /traps_url: expected a URL that starts with http/],
  ['source.endpoints_url', 5, /endpoints_url: /],
  ['source.agents_url', 'https://me:word@agents.example', /address of the service of agents contains a user name/],
  ['source.api_key_file', 5, /api_key_file: expected text/],
  ['source.contract', absent, /the contract, .*absent\.pem, does not exist/],
  ['source.contract', inFolder('contract.yaml'), /contract\.yaml/],
  ['source.rate.concurrency', 0, /concurrency: expected a number of at least 1/],
  ['source.rate.concurrency', 'four', /concurrency: expected a (whole )?number/],
  ['source.rate.requests_per_second', 0, /requests_per_second: expected a number of at least 0\.01/],
  ['source.rate.least_bytes_per_second', 0, /least_bytes_per_second: expected a number of at least 1/],
  ['source.timeouts.connect_seconds', -1, /connect_seconds: expected a number above 0/],
  ['source.timeouts.headers_seconds', 90_000, /headers_seconds: expected a number of at most 86400/],
  ['source.timeouts.idle_seconds', 'long', /idle_seconds: expected a number/],
  ['source.timeouts.request_seconds', 0, /request_seconds: expected a number above 0/],
  ['source.timeouts.download_seconds', 90_000, /download_seconds: expected a number of at most 86400/],
  ['source.timeouts.retry_after_seconds', 'soon', /retry_after_seconds: expected a number/],
  ['source.limits.json_bytes', 0.5, /json_bytes: expected a whole number/],
  ['source.limits.package_bytes', 0, /package_bytes: expected a number of at least 1/],
  ['source.limits.pages', 30_001, /pages: expected a number of at most 30000/],
  ['source.tls.ca_file', absent, /source\.tls\.ca_file, .*absent\.pem, does not exist/],
  ['source.tls.ca_file', inFolder('not-a-key.pem'), /source\.tls\.ca_file, .*contains no PEM certificate/],
  ['source.tls.cert_file', absent, /cert_file and key_file must be given together/],
  ['source.tls.key_file', absent, /cert_file and key_file must be given together/],
  ['verify.require', ['colour'], /verify\.require\.0: expected one of "order", /],
  ['verify.require', 'order', /verify\.require: expected a list/],
  ['verify.require', [], /verify\.require: expected a non-empty list/],
  ['verify.accept_unhashed', [''], /accept_unhashed\.0: expected non-empty text/],
  ['verify.completeness', 'all', /completeness: expected one of "listing", "record", "off"/],
  ['verify.seal_keys', { k1: absent }, /the seal key "k1", .*absent\.pem, does not exist/],
  ['verify.seal_keys', { k1: inFolder('empty.key') }, /the seal key "k1".*contains no key/],
  ['verify.seal_keys', { k1: inFolder('bad.key') }, /the seal key "k1".*is not valid hex or base64/],
  ['verify.seal_keys', { k1: inFolder('a-folder.pem') }, /the seal key "k1".*it is a folder/],
  ['verify.accept_secrets', 'yes', /accept_secrets: expected true or false/],
  ['verify.timestamp_roots', absent, /the time-stamping roots, .*absent\.pem, does not exist/],
  ['verify.timestamp_roots', inFolder('not-a-key.pem'), /\(verify\.timestamp_roots\) contains no certificate/],
  ['verify.public_keys', [absent], /the public key, .*absent\.pem, does not exist/],
  ['verify.public_keys', [inFolder('signing.pem')], /holds a private key where a public one is asked for/],
  ['sign.key_file', absent, /sign\.key_file, .*absent\.pem, does not exist/],
  ['sign.key_file', inFolder('not-a-key.pem'), /\(sign\.key_file\) contains no PEM private key/],
  ['sign.passphrase_file', 5, /passphrase_file: expected text/],
  ['sign.tsa_url', 'tsa.example', /tsa_url: expected a URL that starts with http/],
  ['sign.tsa_url', 'http://127.0.0.1:9/tsr', /no root certificate is pinned/],
  ['sign.tsa_roots', absent, /the time-stamping roots, .*absent\.pem, does not exist/],
  ['sign.tsa_roots', inFolder('not-a-key.pem'), /\(sign\.tsa_roots\) contains no certificate/],
  ['archive.url', '', /archive\.url: expected non-empty text/],
  ['archive.url', '~/evidence', /archive\.url: only a shell expands ~/],
  ['archive.profile', 'audit', /archive\.profile is set but has no effect on a folder/],
  ['sign.passphrase_file', '/run/passphrase', /passphrase_file needs key_file/],
  ['verify.seal_keys', absent, /the folder of the seal keys .*absent\.pem, cannot be read: it does not exist/],
  ['archive.url', 'gs://bucket/x', /unknown kind of archive/],
  ['archive.url', 's3://user:password@bucket/x', /contains a user name or password/],
  ['archive.url', inFolder('bad.key'), /is a file, not the folder of an archive/],
  ['archive.url', join(inFolder('bad.key'), 'below'), /is a file, not the folder of an archive/],
  ['archive.endpoint', 'store.example', /the endpoint of the archive has no http:/],
  ['archive.region', '', /region: expected non-empty text/],
  ['archive.profile', '', /profile: expected non-empty text/],
  ['archive.path_style', 'yes', /path_style: expected true or false/],
  ['archive.ca_file', 5, /ca_file: expected text/],
  ['archive.retention', { mode: 'compliance', years: 7 }, /archive\.retention is set but has no effect on a folder/],
  ['archive.retention.mode', 'forever', /mode: expected one of "governance", "compliance"/],
  ['archive.retention', { mode: 'compliance', years: 0 }, /retention\.years: expected a number of at least 1/],
  ['archive.retention', { mode: 'compliance', years: 7, max_years: 5 }, /max_years is less than years/],
  ['archive.legal_hold', true, /archive\.legal_hold is set but has no effect/],
  ['archive.kms_key_id', 'alias/x', /archive\.kms_key_id is set but has no effect/],
  ['archive.encrypt_to', ['age1xyz'], /archive\.encrypt_to\[0\] is not a recipient of age/],
  ['archive.encrypt_to', 'age1xyz', /encrypt_to: expected a list/],
  [
    'work_directory',
    '/nowhere/at-all',
    /the work directory \/nowhere\/at-all cannot be used: the folder does not exist/,
  ],
  ['work_directory', inFolder('bad.key'), /the work directory .*bad\.key cannot be used: it is a file/],
  ['work_directory', '/proc/self', /the work directory \/proc\/self cannot be used/],
  ['report.organisation', '', /organisation: expected non-empty text/],
  ['report.prepared_by', '', /prepared_by: expected non-empty text/],
  ['report.prepared_by', ['Ana'], /prepared_by: expected text/],
  ['report.controls', ['soc3'], /report\.controls names "soc3"/],
  ['report.controls', ['./own.yaml'], /report\.controls, .*own\.yaml, does not exist/],
  ['report.controls', [inFolder('own.yaml')], /own\.yaml:1:1/],
  ['report.oscal', 'yes', /oscal: expected true or false/],
];

const OTHERWISE: [words: string, wrong: () => Wrong, says: RegExp, code?: number][] = [
  ['no service', () => ({ env: { EVIDENCE_AUDIT_URL: '' } }), /no audit service is named/],
  ['no API key', () => ({ env: { EVIDENCE_API_KEY: '' } }), /no API key is given/],
  ['a wrong API key', () => ({ env: { EVIDENCE_API_KEY: 'sk_wrong_0123456789' } }), /401/, 5],
  [
    'an API key of two lines',
    () => ({ env: { EVIDENCE_API_KEY: 'sk_one\nsk_two' } }),
    /are not allowed in an HTTP header/,
  ],
  [
    'an empty file of the API key',
    () => ({ env: { EVIDENCE_API_KEY: '', EVIDENCE_API_KEY_FILE: inFolder('empty.key') } }),
    /empty\.key, is empty/,
  ],
  [
    'no file of the API key',
    () => ({ env: { EVIDENCE_API_KEY: '', EVIDENCE_API_KEY_FILE: absent } }),
    /the API key \(EVIDENCE_API_KEY_FILE\), .*absent\.pem, does not exist/,
  ],
  [
    'a queue of another database',
    () => ({ env: { EVIDENCE_QUEUE_URL: 'mysql://me:word@db/queue' } }),
    /the address of the queue is not a PostgreSQL URL/,
  ],
  ['a service of another contract', () => ({ env: { EVIDENCE_AUDIT_URL: other.auditUrl } }), /the answer of .*streams/],
  ['a service that is gone', () => ({ env: { EVIDENCE_AUDIT_URL: 'http://127.0.0.1:9/audit' } }), /ECONNREFUSED/, 3],
  [
    'a service of traps without http://',
    () => ({ env: { EVIDENCE_TRAPS_URL: 'traps.example' } }),
    /of traps has no http:/,
  ],
  ['a service without http://', () => ({ flags: { auditUrl: 'audit.example' } }), /has no http:/],
  [
    'a service with a password',
    () => ({ flags: { auditUrl: 'https://me:word@audit.example' } }),
    /contains a user name or password/,
  ],
  [
    'no configuration',
    () => ({ flags: { config: 'absent.yaml' } }),
    /the configuration, .*absent\.yaml, does not exist/,
  ],
  ['an archive of no kind', () => ({ flags: { archive: 'gs://x/y' } }), /unknown kind of archive/],
  ['an endpoint that is none', () => ({ flags: { endpoint: 'nonsense' } }), /the endpoint of the archive/],
  [
    'no work directory',
    () => ({ flags: { workDirectory: '/nowhere' } }),
    /the work directory \/nowhere cannot be used/,
  ],
  ['a seal key that is none', () => ({ flags: { sealKey: ['k1'] } }), /--seal-key is not ID=FILE/],
  ['a seal key that is not there', () => ({ flags: { sealKey: [`k1=${absent}`] } }), /the seal key "k1"/],
  ['roots that are not there', () => ({ flags: { timestampRoots: absent } }), /the time-stamping roots/],
  ['a claim that is none', () => ({ flags: { require: ['colour'] } }), /"colour" is not a claim/],
  ['no concurrency', () => ({ flags: { concurrency: 0 } }), /--concurrency must be/],
  [
    'an encrypted key without its passphrase',
    () => ({ file: { 'sign.key_file': inFolder('locked.pem') } }),
    /no passphrase is given/,
  ],
  [
    'an encrypted key with another one',
    () => ({ file: { 'sign.key_file': inFolder('locked.pem'), 'sign.passphrase_file': inFolder('wrong.txt') } }),
    /the passphrase is wrong/,
  ],
];

/** Expects export, dry run and doctor to end alike, with the same cause. */
async function agree(wrong: Wrong, says: RegExp, code: number): Promise<void> {
  const { doctor, dry, real, there } = await threeTimes(wrong);
  expect([doctor.code, dry.code, real.code], `${doctor.stdout}${dry.stderr}${real.stderr}`).toEqual([code, code, code]);
  expect([...doctor.complaints, doctor.stderr].join('\n')).toMatch(says);
  expect(dry.stderr).toMatch(says);
  expect(real.stderr).toMatch(says);
  for (const { stderr } of [doctor, dry, real])
    expect(stderr).not.toMatch(/a defect in this program|Invalid input|Too small/);
  expect(there).toEqual(['evidence.yaml']);
}

describe('what is set wrongly is refused alike by export, dry run and doctor', () => {
  test.each(OF_FILE)('%s: %j', async (path, value, says, code = 2) => {
    await agree({ file: { [path]: value } }, says, code);
  });

  test.each(OTHERWISE)('%s', async (_words, wrong, says, code = 2) => {
    await agree(wrong(), says, code);
  });

  test('a signing key that everybody can read', async () => {
    const { file } = await makeKey(mkdtempSync(join(folder, 'loose-')), 'loose.pem', 'ed25519');
    chmodSync(file, 0o644);
    await agree({ file: { 'sign.key_file': file } }, /loose\.pem, can be read or changed by other users/, 2);
  });

  test('every key of the configuration is in this table', () => {
    const tried = OF_FILE.map(([path]) => path);
    for (const path of leavesOf(z.toJSONSchema(configSchema) as Shape))
      expect(
        tried.some((one) => one === path || path.startsWith(`${one}.`)),
        path,
      ).toBe(true);
  });
});

test.each<[string, object, RegExp]>([
  ['a seal key', { sealKey: [`k1=${absent}`] }, /the seal key "k1"/],
  ['roots', { timestampRoots: absent }, /the time-stamping roots/],
  ['a work directory', { workDirectory: '/nowhere' }, /the work directory \/nowhere cannot be used/],
])('a dry run of all missing months refuses %s that is not there too', async (_what, flags, says) => {
  const directory = mkdtempSync(join(folder, 'case-'));
  const environment = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY };
  const dry = await carryOut(runExport, { ...flags, missing: true, 'dry-run': true }, directory, { environment });
  expect(dry).toMatchObject({ code: 2, stderr: expect.stringMatching(says) });
});

interface Shape {
  properties?: Record<string, Shape>;
}

function leavesOf({ properties }: Shape): string[] {
  return Object.entries(properties ?? {}).flatMap(([name, shape]) => {
    const below = leavesOf(shape);
    return below.length === 0 ? [name] : below.map((rest) => `${name}.${rest}`);
  });
}

test('what is set rightly passes all three, and the dry run makes nothing', async () => {
  const { doctor, dry, real, there } = await threeTimes({ file: { 'sign.key_file': key.file } });
  expect([doctor.code, dry.code, real.code], `${doctor.stdout}${real.stderr}`).toEqual([0, 0, 0]);
  expect(there).toEqual(['evidence.yaml']);
  const names = (JSON.parse(doctor.stdout).checks as Check[]).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('a key with a line feed at its end is the key, in the environment as in a file', async () => {
  const { doctor, real } = await threeTimes({ env: { EVIDENCE_API_KEY: `${KEY}\n` } });
  expect([doctor.code, real.code]).toEqual([0, 0]);
});
