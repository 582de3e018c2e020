import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Check } from '../../src/exporter/check.ts';
import { runPlatform } from '../platform/command.ts';
import { ageKey } from '../support/age.ts';
import { versionsIn } from '../support/bucket.ts';
import { evidence } from '../support/evidence.ts';
import { unusedUrl } from '../support/fault-server.ts';
import { type KeyFiles, makeKey } from '../support/openssl-keys.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import {
  adminClient,
  allow,
  type IdentityPolicy,
  makeBucket,
  makeUser,
  type Radosgw,
  useRadosgw,
} from '../support/radosgw.ts';
import { type Relay, startRelay } from '../support/relay.ts';
import { type OpensslAuthority, startOpensslAuthority } from '../support/tsa.ts';

const folder = mkdtempSync(join(tmpdir(), 'doctor-test-'));
const auditor = ageKey(folder, 'auditor');
let platform: ServedPlatform;
let gateway: Radosgw;
let writer: Radosgw['env'];
let authority: OpensslAuthority;
let strangers: OpensslAuthority;
let key: KeyFiles;
let bucket: string;
const relays: Relay[] = [];

beforeAll(async () => {
  [platform, gateway, authority, strangers, key] = await Promise.all([
    servePlatform(),
    useRadosgw(),
    startOpensslAuthority(join(folder, 'tsa')),
    startOpensslAuthority(join(folder, 'strangers')),
    makeKey(folder, 'signing.pem', 'ed25519'),
  ]);
  await postEntries(platform, someEntries('payments', 3));
  [bucket, writer] = await Promise.all([makeBucket(gateway, 'lock'), makeUser(gateway, 'doctor')]);
  const init = await evidence(['init', '--archive', `s3://${bucket}/prod`], { cwd: folder });
  expect(init.code, init.stderr).toBe(0);
  const policy: IdentityPolicy = JSON.parse(readFileSync(join(folder, 'deploy/writer-policy.json'), 'utf8'));
  await allow(gateway, bucket, { doctor: policy });
});
afterAll(async () => {
  await Promise.all([...relays.map((relay) => relay.close()), authority.close(), strangers.close(), platform.stop()]);
});

async function relayTo(target: string, aheadMs: number): Promise<string> {
  const relay = await startRelay(target, { aheadMs });
  relays.push(relay);
  return relay.url;
}

/** Differences from a healthy deployment. */
interface Case {
  archive?: Record<string, unknown>;
  sign?: Record<string, string>;
  env?: Record<string, string>;
}

async function doctor({ archive = {}, sign = {}, env = {} }: Case, ...flags: string[]) {
  const cwd = mkdtempSync(join(folder, 'case-'));
  const config = {
    archive: {
      url: `s3://${bucket}/prod`,
      endpoint: gateway.endpoint,
      retention: { mode: 'compliance', years: 7 },
      encrypt_to: [auditor.recipient],
      ...archive,
    },
    sign: { key_file: key.file, tsa_url: authority.url, tsa_roots: authority.rootFile, ...sign },
  };
  writeFileSync(join(cwd, 'evidence.yaml'), JSON.stringify(config));
  return evidence(['doctor', ...flags], { cwd, env: { ...platform.env, ...writer, ...env } });
}

/** Returns the checks that failed, each with its next step. */
async function complaints(wrong: Case) {
  const { code, stdout, stderr } = await doctor(wrong, '--json');
  expect(stderr).toBe('');
  const { checks, exit_code }: { checks: Check[]; exit_code: number } = JSON.parse(stdout);
  expect(exit_code).toBe(code);
  const wanting = checks.filter(({ state }) => state === 'failed');
  return { code, wanting, skipped: checks.filter(({ state }) => state === 'skipped').map(({ name }) => name) };
}

test('a deployment with the policy that init writes is well: a line for each thing, exit code 0', async () => {
  const { code, stdout, stderr } = await doctor({});
  expect([code, stderr]).toEqual([0, '']);
  const names = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ +/).slice(0, 2).join(' '));
  const store = 'bucket versioning object-lock retention write deletion store-clock';
  const looked = `${store} service service-clock work-directory encryption signing-key time-stamp`.split(' ');
  const unset = ['seal-keys', 'roots', 'public-keys', 'controls'];
  expect(names.filter((name) => !unset.includes(name.slice(2)))).toEqual(looked.map((name) => `✓ ${name}`));
  expect(names.filter((name) => unset.includes(name.slice(2)))).toEqual(unset.map((name) => `– ${name}`));
});

test('what the doctor stores is a scratch object, locked for a minute at most and said to stay', async () => {
  const { stdout } = await doctor({});
  const client = adminClient(gateway);
  const versions = await versionsIn(client, bucket);
  client.destroy();
  expect(new Set(versions.map(({ Key }) => Key))).toEqual(new Set(['prod/.doctor']));
  const [, version = ''] = /version (\S+), locked \(compliance\) for a minute/.exec(stdout) ?? [];
  expect(versions.map(({ VersionId }) => VersionId)).toContain(version);
});

const bucketOf = async (kind: 'plain' | 'versioned' | 'lock') => ({
  archive: { url: `s3://${await makeBucket(gateway, kind)}/prod` },
  env: gateway.env,
});

const WRONG: [what: string, make: () => Case | Promise<Case>, code: number, names: string[], says: RegExp][] = [
  ['no bucket', () => ({ archive: { url: 's3://no-such-bucket/prod' } }), 2, ['bucket'], /create-bucket/],
  ['no lock', () => bucketOf('versioned'), 2, ['object-lock', 'deletion'], /object-lock-enabled-for-bucket/],
  ['no versioning', () => bucketOf('plain'), 2, ['versioning', 'object-lock', 'deletion'], /Status=Enabled/],
  [
    'a key that may bypass governance',
    () => ({ env: gateway.env }),
    2,
    ['deletion'],
    /bypass governance.*writer policy/s,
  ],
  ['a bucket that is not ours', async () => ({ ...(await bucketOf('lock')), env: {} }), 5, ['bucket'], /credentials/],
  ['a wrong key of the store', () => ({ env: { AWS_SECRET_ACCESS_KEY: 'other' } }), 5, ['bucket'], /credentials/],
  ['no retention', () => ({ archive: { retention: undefined } }), 2, ['retention'], /archive\.retention/],
  [
    'a store whose clock is ahead',
    async () => ({ archive: { endpoint: await relayTo(gateway.endpoint, 300_000) } }),
    2,
    ['store-clock'],
    /about 5 minutes behind.*set-ntp/s,
  ],
  [
    'a service whose clock is behind',
    async () => ({ env: { EVIDENCE_AUDIT_URL: await relayTo(platform.auditUrl, -120_000) } }),
    2,
    ['service-clock'],
    /about (1[12]\d seconds|2 minutes) ahead.*set-ntp/s,
  ],
  ['a dead authority', async () => ({ sign: { tsa_url: await unusedUrl() } }), 3, ['time-stamp'], /sign\.tsa_url/],
  [
    'an authority under another root',
    () => ({ sign: { tsa_url: strangers.url } }),
    3,
    ['time-stamp'],
    /sign\.tsa_roots/,
  ],
  ['a wrong API key', () => ({ env: { EVIDENCE_API_KEY: 'sk_wrong' } }), 5, ['service'], /EVIDENCE_API_KEY/],
  [
    'a dead service',
    async () => ({ env: { EVIDENCE_AUDIT_URL: `${await unusedUrl()}/audit` } }),
    3,
    ['service'],
    /does not answer|reach/,
  ],
  [
    'no signing key',
    () => ({ sign: { key_file: '/nowhere/key.pem' } }),
    2,
    ['signing-key'],
    /key\.pem, does not exist/,
  ],
];

test.each(WRONG)('%s: named in one line with what to do', async (_what, make, code, names, says) => {
  const found = await complaints(await make());
  expect([found.wanting.map(({ name }) => name), found.code]).toEqual([names, code]);
  expect(found.wanting.map((check) => `${check.says} → ${check.next_step}`).join('\n')).toMatch(says);
});

test('a complaint is one line, which ends with what to do', async () => {
  const { stdout, code } = await doctor({ env: { EVIDENCE_API_KEY: 'sk_wrong' } });
  const lines = stdout.split('\n').filter((line) => line.startsWith('✗'));
  expect(lines).toEqual([expect.stringMatching(/^✗ service .* 401.* → Check the API key .*$/)]);
  expect([code, stdout.includes('sk_wrong')]).toEqual([5, false]);
});

describe('an archive in a folder', () => {
  const inFolder = (url: string) => ({ archive: { url, endpoint: undefined, retention: undefined } });

  test('is tried, and nothing of that stays', async () => {
    const archive = join(folder, 'archive');
    mkdirSync(archive);
    expect((await complaints(inFolder(archive))).wanting).toEqual([]);
    expect(readdirSync(archive)).toEqual([]);
  });

  test('need not be there yet, and is not made', async () => {
    expect((await complaints(inFolder(join(folder, 'later/archive')))).code).toBe(0);
    expect(readdirSync(folder)).not.toContain('later');
  });

  test.each([
    ['a file', () => inFolder(key.file), /is a file, not the folder of an archive/, 2],
    [
      'a disk that takes nothing',
      () => inFolder('/proc/archive'),
      /Check that disk, then run evidence doctor again/,
      3,
    ],
    [
      'a folder that is to lock',
      () => ({ archive: { url: folder, endpoint: undefined } }),
      /leave out archive\.retention/,
      2,
    ],
  ])('that is %s is complained about', async (_what, make, says, expected) => {
    const { code, wanting } = await complaints(make());
    expect(code).toBe(expected);
    expect(wanting.map((check) => `${check.says} → ${check.next_step}`).join('\n')).toMatch(says);
  });
});

test('a signing key over an archive whose newest entry is unsigned ends with 2, as the export does', async () => {
  const cwd = mkdtempSync(join(folder, 'unsigned-'));
  const run = (...words: string[]) => evidence(words, { cwd, env: platform.env });
  const unsigned = await run('export', '--all-time');
  expect(unsigned.code, unsigned.stderr).toBe(0);
  expect((await run('doctor')).stdout).toMatch(/^✓ ledger +ledger\/00000001\.json is the newest entry/m);
  writeFileSync(join(cwd, 'evidence.yaml'), `sign: { key_file: ${key.file} }\n`);
  const { code, stdout } = await run('doctor');
  expect([code, stdout]).toEqual([2, expect.stringMatching(/^✗ ledger .*is not signed.*--begin-signing/m)]);
});

test('a required seal whose key is not given ends the doctor with 2 and the dry run with 3, as the export', async () => {
  const cwd = mkdtempSync(join(folder, 'sealed-'));
  const run = (...words: string[]) => evidence(words, { cwd, env: platform.env });
  writeFileSync(join(cwd, 'evidence.yaml'), 'verify: { require: [order, seal] }\n');
  const without = await run('doctor');
  const missing = /the key of the newest entry is not given for payments \(\S+\)/;
  expect([without.code, without.stdout]).toEqual([2, expect.stringMatching(missing)]);
  const dry = await run('export', '--all-time', '--dry-run');
  expect([dry.code, dry.stdout]).toEqual([3, expect.stringMatching(missing)]);
  const months = await run('export', '--missing', '--dry-run');
  expect([months.code, months.stdout]).toEqual([3, expect.stringMatching(missing)]);
  expect((await run('export', '--all-time')).code).toBe(3);
  const { code: written } = await runPlatform([
    'seal-keys',
    'write',
    '--data',
    platform.dataDir,
    '--out',
    join(cwd, 'keys'),
  ]);
  expect(written).toBe(0);
  writeFileSync(join(cwd, 'evidence.yaml'), 'verify: { require: [order, seal], seal_keys: keys }\n');
  const { code, stdout } = await run('doctor', '--archive', 'other');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^✓ newest-seals +\d+ streams? sealed with given keys/m)]);
  for (const name of readdirSync(join(cwd, 'keys'))) {
    chmodSync(join(cwd, 'keys', name), 0o600);
    writeFileSync(join(cwd, 'keys', name), 'f'.repeat(64));
  }
  const other = /newest entry is sealed with a key that differs from the given key of the same id, for payments/;
  const wrong = await run('doctor', '--archive', 'other');
  expect([wrong.code, wrong.stdout]).toEqual([2, expect.stringMatching(other)]);
  for (const words of [['--all-time'], ['--missing']]) {
    const tried = await run('export', ...words, '--dry-run', '--archive', 'other');
    expect([tried.code, tried.stdout]).toEqual([3, expect.stringMatching(other)]);
  }
});

test('required anchors without roots end the doctor with 2 and the dry run with 3, as the export', async () => {
  const cwd = mkdtempSync(join(folder, 'anchored-'));
  const run = (...words: string[]) => evidence(words, { cwd, env: platform.env });
  writeFileSync(join(cwd, 'evidence.yaml'), 'verify: { require: [order, anchor] }\n');
  const missing = /verify\.require includes anchor, but no roots are configured/;
  const { code, stdout } = await run('doctor');
  expect([code, stdout]).toEqual([2, expect.stringMatching(missing)]);
  for (const words of [['--all-time'], ['--missing']]) {
    const dry = await run('export', ...words, '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([3, expect.stringMatching(missing)]);
  }
  expect((await run('export', '--all-time')).code).toBe(3);
});
