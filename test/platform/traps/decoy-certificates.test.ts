import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CertificateNames, tlsOf } from '../../../src/platform/traps/decoys/certificates.ts';
import { settingsOf } from './decoy-places.ts';

const NOW = new Date('2026-05-04T03:02:01Z');
const ALONE: CertificateNames = { subject: 'CN=db-prod-03', issuer: null, hosts: ['db-prod-03'], key: 'rsa' };
const ISSUED: CertificateNames = {
  subject: 'CN=kube-apiserver',
  issuer: 'CN=kubernetes',
  key: 'ec',
  hosts: ['kubernetes', '10.96.0.1'],
};
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'decoy-'));
});
afterAll(() => rm(folder, { recursive: true }));

const tlsIn = (name: string, names: CertificateNames, publicHost: string | null = null) =>
  tlsOf(settingsOf({ kind: 'postgres', publicHost }), join(folder, name), { now: NOW, draw: () => names });

test.each([
  ['signs itself', ALONE],
  ['is of an authority', ISSUED],
])('a certificate that %s is trusted by its authority, says nothing of us, and is made once', async (name, names) => {
  const made = await tlsIn(name, names);
  const read = new X509Certificate(made.certificate);
  expect(read.subject).toBe(names.subject);
  expect(read.issuer).toBe(names.issuer ?? names.subject);
  for (const host of names.hosts) expect(read.subjectAltName).toContain(host);
  expect(read.validFromDate.getTime()).toBeLessThan(NOW.getTime() - 80 * 24 * 60 * 60_000);
  await writeFile(join(folder, 'leaf.pem'), made.certificate);
  await writeFile(join(folder, 'root.pem'), made.authority ?? '');
  const verified = execFileSync('openssl', ['verify', '-CAfile', join(folder, 'root.pem'), join(folder, 'leaf.pem')]);
  expect(verified.toString()).toMatch(/OK$/m);
  expect(await tlsIn(name, { ...names, subject: 'CN=other' })).toEqual(made);
  for (const file of await readdir(join(folder, name)))
    expect((await stat(join(folder, name, file))).mode & 0o777, file).toBe(0o600);
});

test('a host that is planted later is named by a new certificate of the same authority and name', async () => {
  const before = await tlsIn('later', ISSUED);
  const after = await tlsIn('later', { ...ISSUED, subject: 'CN=other' }, 'k8s.example');
  expect(after.authority).toBe(before.authority);
  const read = new X509Certificate(after.certificate);
  expect([read.subject, read.checkHost('k8s.example')]).toEqual(['CN=kube-apiserver', 'k8s.example']);
  expect(await tlsIn('later', ISSUED, 'k8s.example')).toEqual(after);
});

test('two decoys of the same names share no number, no key and no time', async () => {
  const [one, other] = (await Promise.all([tlsIn('one', ALONE), tlsIn('other', ALONE)])).map(
    ({ certificate }) => new X509Certificate(certificate),
  );
  expect(one?.serialNumber).not.toBe(other?.serialNumber);
  expect(one?.validFrom).not.toBe(other?.validFrom);
  expect(one?.publicKey.equals(other?.publicKey as never)).toBe(false);
});

test('the certificate of the settings is shown as it is', async () => {
  const tls = { certificate: 'of the settings', key: 'its key' };
  const shown = await tlsOf(settingsOf({ kind: 'postgres', tls }), folder, { now: NOW, draw: () => ALONE });
  expect(shown).toEqual({ ...tls, authority: null });
});
