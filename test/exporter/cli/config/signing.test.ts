import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runRestamp } from '../../../../src/exporter/cli/commands/restamp.ts';
import { loadConfig } from '../../../../src/exporter/cli/config/config.ts';
import { openSigningKey, openStamping } from '../../../../src/exporter/cli/config/signing.ts';
import { readPublicKeys, readTimestampRoots } from '../../../../src/exporter/cli/config/trust.ts';
import { commandIn } from '../../../support/command.ts';
import { newAuthority } from '../../../support/forging-authority.ts';
import { makeKey } from '../../../support/openssl-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'signing-config-'));
const key = await makeKey(folder, 'signing.pem', 'ed25519');
for (const name of ['one', 'two']) writeFileSync(join(folder, `${name}.pem`), (await newAuthority(name)).root.pem);

const configOf = (yaml: string) => {
  writeFileSync(join(folder, 'evidence.yaml'), yaml);
  return loadConfig({}, {}, folder);
};

const WRONG: [string, string, RegExp][] = [
  ['no such key file', 'sign: { key_file: nowhere.pem }', /sign.key_file, .*nowhere.pem, does not exist/],
  ['a public key', 'sign: { key_file: signing.pem.pub }', /contains no PEM private key/],
  ['an authority without roots', 'sign: { tsa_url: "https://tsa.example" }', /no root certificate is pinned/],
  [
    'roots that are none',
    'sign: { tsa_url: "https://x", tsa_roots: signing.pem.pub }',
    /PUBLIC KEY, not a CERTIFICATE/,
  ],
  ['an address of another kind', 'sign: { tsa_url: "ftp://x" }', /evidence.yaml:1:/],
  [
    'a password that is no part of a URL',
    'sign: { tsa_url: "https://me:%zz@x", tsa_roots: one.pem }',
    /user and password in sign.tsa_url are not percent-encoded/,
  ],
  ['a user that is no part of a URL', 'sign: { tsa_url: "https://%zz@x", tsa_roots: one.pem }', /percent-encoded/],
];
test.each(WRONG)('a configuration that cannot work: %s', (_words, yaml, message) => {
  const { context } = commandIn(folder);
  const openAll = async () => {
    const config = await configOf(yaml);
    return [openSigningKey(config, context), openStamping(config, context)];
  };
  return expect(openAll()).rejects.toMatchObject({ code: 'config', message: expect.stringMatching(message) });
});

test('nothing is signed or stamped that is not configured', async () => {
  const config = await configOf('');
  const { context } = commandIn(folder);
  expect([openSigningKey(config, context), openStamping(config, context), config.sign.rootsFile]).toEqual([
    null,
    null,
    null,
  ]);
});

test.each([
  [
    'sign: { tsa_roots: one.pem }\nverify: { timestamp_roots: two.pem, public_keys: [signing.pem.pub] }',
    ['CN=one Root'],
  ],
  ['verify: { timestamp_roots: two.pem, public_keys: [signing.pem.pub] }', undefined],
])('runs are judged by sign.tsa_roots alone, checkpoints by verify.timestamp_roots: %s', async (yaml, names) => {
  const config = await configOf(yaml);
  expect(readTimestampRoots(config.sign.rootsFile)?.map(({ subject }) => subject.text)).toEqual(names);
  expect(config.verify.timestampRootsFile).toBe(join(folder, 'two.pem'));
  expect(readPublicKeys(config.verify.publicKeyFiles).map(({ id }) => id)).toEqual([key.id]);
});

test('what the printer is given later, it does not print', async () => {
  const { context, printed } = commandIn(folder);
  const pem = readFileSync(key.file, 'utf8').trim();
  openSigningKey(await configOf('sign: { key_file: signing.pem }'), context);
  const stamping = openStamping(
    await configOf('sign: { tsa_url: "https://me:p%40ssword@x/?key=s3cret", tsa_roots: one.pem }'),
    context,
  );
  context.printer.note(`${pem} p%40ssword p@ssword key=s3cret https://x/`);
  expect(printed.stderr).toBe('*** *** *** *** https://x/\n');
  expect(stamping?.authority.shown).toBe('https://x/');
  await stamping?.authority.close();
});

test.each([
  [{}, /name one run, or give --all/],
  [{ run: 'AUD-1', all: true }, /name one run, or give --all/],
  [{ all: true, within: 'soon' }, /is not a number of days/],
  [{ all: true }, /no time-stamping authority is configured/],
])('restamp does not take %j', async (given, message) => {
  await configOf('');
  const flags = { within: '90d', ...given, _: [], $0: '' } as unknown as Parameters<typeof runRestamp>[0];
  await expect(runRestamp(flags, commandIn(folder).context)).rejects.toThrow(message);
});
