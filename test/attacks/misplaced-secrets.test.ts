import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runDoctor } from '../../src/exporter/cli/commands/doctor.ts';
import { runExport } from '../../src/exporter/cli/commands/export.ts';
import { runHold } from '../../src/exporter/cli/commands/holds.ts';
import { runInit } from '../../src/exporter/cli/commands/init.ts';
import { runKeygen } from '../../src/exporter/cli/commands/keygen.ts';
import { runLedger } from '../../src/exporter/cli/commands/ledger.ts';
import { runProbe } from '../../src/exporter/cli/commands/probe.ts';
import { runShare } from '../../src/exporter/cli/commands/share.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import { carryOut } from '../support/command.ts';
import { type FaultyService, startFaultyService } from '../support/services/faulty.ts';

const KEY = 'sk_live_of+the/service0123';
const folder = mkdtempSync(join(tmpdir(), 'misplaced-'));
let service: FaultyService;

beforeAll(async () => {
  service = await startFaultyService({ apiKey: KEY, streams: new Map([['payments', 2]]), fault: () => undefined });
});
afterAll(() => service.close());

interface Settings {
  file?: Record<string, Record<string, unknown>>;
  env?: Record<string, string>;
}

interface Secret {
  text: string;
  /** Part of the secret that no output may contain. */
  marker: string;
  /** Settings that also give the secret where it belongs; empty for secrets that are recognized by their form. */
  rightly: Settings;
}

function keyFile(text: string): string {
  const path = join(mkdtempSync(join(folder, 'key-')), 'kept.key');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const known = (text: string, rightly: Settings): Secret => ({ text, marker: text, rightly });
const SECRETS: Record<string, Secret> = {
  'the API key': known(KEY, {}),
  'the API key of a file': known('sk_of/a+file987654321', {
    file: { source: { api_key_file: keyFile('sk_of/a+file987654321\n') } },
    env: { EVIDENCE_API_KEY: '' },
  }),
  'the passphrase': known('correct.horse/battery+staple', {
    env: { EVIDENCE_SIGNING_PASSPHRASE: 'correct.horse/battery+staple' },
  }),
  'the secret key of the store': known('wJalrXUtnFEMI/K7MDENG+bPxRfiCY', {
    env: { AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCY' },
  }),
  'the session token of the store': known('FwoGZXIvYXdzEJr//////////wEaDB+', {
    env: { AWS_SESSION_TOKEN: 'FwoGZXIvYXdzEJr//////////wEaDB+' },
  }),
  'a seal key': known('the seal key of k1, as text', {
    file: { verify: { seal_keys: { k1: keyFile('the seal key of k1, as text\n') } } },
  }),
  'a seal key in hex': { text: 'hex:00112233445566778899aabb', marker: '00112233445566778899', rightly: {} },
  'a seal key in base64': { text: 'base64:qrvM3e7/ABEiM0RVZneI', marker: 'qrvM3e7/ABEiM0RVZneI', rightly: {} },
  'an age identity': {
    text: 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX',
    marker: 'GFPYYSJZGFPYYSJZ',
    rightly: {},
  },
  'a signing key': {
    text: '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFakeFakeFake\n-----END PRIVATE KEY-----\n',
    marker: 'MC4CAQAwBQYDK2VwBCIEI',
    rightly: {},
  },
  'a signed link': {
    text: 'https://store.example/b/o?X-Amz-Expires=60&X-Amz-Signature=0123456789abcdef0123',
    marker: '0123456789abcdef0123',
    rightly: {},
  },
};

type Given = Settings & { flags?: Record<string, unknown>; yaml?: string };
const UNSET = { env: { EVIDENCE_AUDIT_URL: '' } };
/** Each way to put a secret in the wrong place. */
const PLACES: Record<string, (secret: string) => Given> = {
  'source.audit_url': (s) => ({ ...UNSET, file: { source: { audit_url: s } } }),
  'user of source.audit_url': (s) => ({
    ...UNSET,
    file: { source: { audit_url: `https://${encodeURIComponent(s)}@x.example` } },
  }),
  'password of source.audit_url': (s) => ({
    ...UNSET,
    file: { source: { audit_url: `https://u:${encodeURIComponent(s)}@x.example` } },
  }),
  'source.api_key_file': (s) => ({ file: { source: { api_key_file: s } }, env: { EVIDENCE_API_KEY: '' } }),
  'source.contract': (s) => ({ file: { source: { contract: s } } }),
  'source.tls': (s) => ({ file: { source: { tls: { ca_file: s } } } }),
  'verify.require': (s) => ({ file: { verify: { require: [s] } } }),
  'verify.accept_unhashed': (s) => ({ file: { verify: { accept_unhashed: [s] } } }),
  'verify.seal_keys': (s) => ({ file: { verify: { seal_keys: { k2: s } } } }),
  'the id of a seal key': (s) => ({ file: { verify: { seal_keys: { [s]: 'k.key' } } } }),
  'verify.timestamp_roots': (s) => ({ file: { verify: { timestamp_roots: s } } }),
  'verify.public_keys': (s) => ({ file: { verify: { public_keys: [s] } } }),
  'sign.key_file': (s) => ({ file: { sign: { key_file: s } } }),
  'sign.tsa_roots': (s) => ({ file: { sign: { tsa_roots: s } } }),
  'sign.tsa_url': (s) => ({ file: { sign: { tsa_url: `https://x.example/${s}` } } }),
  'archive.url': (s) => ({ file: { archive: { url: s } } }),
  'a bucket': (s) => ({ file: { archive: { url: `s3://${s}/x` } } }),
  'user of archive.url': (s) => ({ file: { archive: { url: `s3://u:${encodeURIComponent(s)}@bucket/x` } } }),
  'archive.endpoint': (s) => ({ file: { archive: { endpoint: s } } }),
  'archive.profile': (s) => ({ file: { archive: { profile: s } } }),
  'archive.kms_key_id': (s) => ({ file: { archive: { kms_key_id: s } } }),
  'archive.encrypt_to': (s) => ({ file: { archive: { encrypt_to: [s] } } }),
  work_directory: (s) => ({ file: { work_directory: s as unknown as Record<string, unknown> } }),
  'report.organisation': (s) => ({ file: { report: { organisation: s } } }),
  'report.controls': (s) => ({ file: { report: { controls: [s] } } }),
  'a key of the file': (s) => ({ file: { source: { [s]: 1 } } }),
  'a section of the file': (s) => ({ file: { [s]: {} } }),
  'a file that is no YAML': (s) => ({ yaml: `source:\n  api_key: "${s}\n` }),
  'a file that is text': (s) => ({ yaml: s }),
  EVIDENCE_AUDIT_URL: (s) => ({ env: { EVIDENCE_AUDIT_URL: s } }),
  EVIDENCE_ARCHIVE_URL: (s) => ({ env: { EVIDENCE_ARCHIVE_URL: s } }),
  EVIDENCE_CONFIG: (s) => ({ env: { EVIDENCE_CONFIG: s } }),
  EVIDENCE_API_KEY_FILE: (s) => ({ env: { EVIDENCE_API_KEY_FILE: s, EVIDENCE_API_KEY: '' } }),
  AWS_PROFILE: (s) => ({ env: { AWS_PROFILE: s } }),
  ...Object.fromEntries(
    [
      'config',
      'audit-url',
      'contract',
      'archive',
      'endpoint',
      'work-directory',
      'timestamp-roots',
      'period',
      'from',
      'request',
      'requested-by',
    ].map((flag) => [
      `--${flag}`,
      (s: string): Given => ({ flags: { 'all-time': undefined, [flag]: s, [camel(flag)]: s } }),
    ]),
  ),
  ...Object.fromEntries(
    ['stream', 'exclude', 'require', 'accept-unhashed', 'seal-key'].map((flag) => [
      `--${flag}`,
      (s: string): Given => ({ flags: { [flag]: [s], [camel(flag)]: [s] } }),
    ]),
  ),
  'file of --seal-key': (s) => ({ flags: { 'seal-key': [`k2=${s}`], sealKey: [`k2=${s}`] } }),
};

function camel(flag: string): string {
  return flag.replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/** Exports with these settings. Returns everything that was printed and written, file names included. */
async function exported({ text, rightly }: Secret, { file = {}, env = {}, flags = {}, yaml }: Given) {
  const directory = mkdtempSync(join(folder, 'case-'));
  const sections = { ...rightly.file };
  for (const [name, section] of Object.entries(file))
    sections[name] = typeof section === 'string' ? section : merged(sections[name] ?? {}, section);
  writeFileSync(join(directory, 'evidence.yaml'), yaml ?? JSON.stringify(sections));
  const environment = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY, ...rightly.env, ...env };
  for (const [name, value] of Object.entries(environment))
    if (value === '') delete environment[name as keyof typeof environment];
  const { code, stdout, stderr } = await carryOut(runExport, { 'all-time': true, ...flags }, directory, {
    environment,
  });
  expect(stdout + stderr, text).not.toContain('a defect in this program');
  return { code, all: [stdout, stderr, ...writtenIn(directory)].join('\n') };
}

function merged(one: Record<string, unknown>, other: Record<string, unknown>): Record<string, unknown> {
  const keys = { ...(one['seal_keys'] as object), ...(other['seal_keys'] as object) };
  return { ...one, ...other, ...(Object.keys(keys).length === 0 ? {} : { seal_keys: keys }) };
}

function writtenIn(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name !== 'evidence.yaml',
  );
  return names.flatMap((name) => {
    const path = join(directory, name);
    if (!statSync(path).isFile()) return [name];
    const content = name.endsWith('.zip')
      ? execFileSync('unzip', ['-p', path], { encoding: 'latin1' })
      : readFileSync(path, 'latin1');
    return [name, content];
  });
}

const formsOf = (marker: string) => [
  marker,
  encodeURIComponent(marker),
  JSON.stringify(marker).slice(1, -1),
  Buffer.from(marker).toString('base64').slice(2, -4),
];

describe.each(Object.entries(SECRETS))(
  '%s, wherever it is put by mistake, is neither printed nor archived',
  (_name, secret) => {
    test.each(Object.entries(PLACES))('%s', async (_place, give) => {
      const { code, all } = await exported(secret, give(secret.text));
      for (const form of formsOf(secret.marker)) expect(all).not.toContain(form);
      expect(code).toBe(2);
    });
  },
);

test('a name of a file that is not there may be a secret that nobody knows', async () => {
  const secret = known('Tr0ub4dor&3-of-nobody', {});
  for (const place of [
    'source.api_key_file',
    'source.contract',
    'source.tls',
    'verify.seal_keys',
    'verify.timestamp_roots',
    'verify.public_keys',
    'sign.key_file',
    '--config',
    '--contract',
    '--timestamp-roots',
    'file of --seal-key',
    '--seal-key',
    'EVIDENCE_API_KEY_FILE',
    '--audit-url',
    'source.audit_url',
    'password of source.audit_url',
    'user of archive.url',
    'archive.encrypt_to',
    'report.controls',
    'a key of the file',
  ]) {
    const { code, all } = await exported(secret, (PLACES[place] as (text: string) => Given)(secret.text));
    expect([place, code]).toEqual([place, 2]);
    expect(all, place).not.toContain(secret.text);
  }
});

describe('no command takes one for something else', () => {
  const COMMANDS: [string, Parameters<typeof carryOut>[0], object, string[]][] = [
    ['verify', runVerify as never, { targets: ['.'] }, ['run', 'from', 'identity', 'public-key', 'contract']],
    ['share', runShare as never, { run: 'x' }, ['run', 'for', 'expires', 'out']],
    ['hold', runHold as never, { run: 'x', reason: 'because' }, ['run', 'reason']],
    ['ledger', runLedger as never, { action: 'accept', stream: 'x', reason: 'because' }, ['stream', 'reason']],
    ['keygen', runKeygen as never, { out: 'x.pem', type: 'ed25519' }, ['out']],
    ['init', runInit as never, { mode: 'compliance', years: 7 }, ['audit-url', 'archive', 'endpoint', 'kms-key']],
    ['probe', runProbe as never, {}, ['out', 'audit-url', 'seal-key']],
    ['doctor', runDoctor as never, {}, ['audit-url', 'archive', 'work-directory']],
  ];

  test.each(COMMANDS)('%s', async (_name, command, flags, places) => {
    for (const { text, marker, rightly } of Object.values(SECRETS)) {
      if (rightly.file !== undefined) continue;
      for (const place of places) {
        const directory = mkdtempSync(join(folder, 'command-'));
        const environment = { EVIDENCE_API_KEY: KEY, ...rightly.env };
        const { code, stdout, stderr } = await carryOut(command, { ...flags, [place]: text }, directory, {
          environment,
        });
        expect([place, code], stdout).toEqual([place, 2]);
        expect(stdout + stderr).not.toContain(marker);
        expect(readdirSync(directory)).toEqual([]);
      }
    }
  });
});
