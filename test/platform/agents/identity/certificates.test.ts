import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RevocationReason } from '../../../../src/platform/agents/enums.ts';
import {
  currentIdentity,
  liftHold,
  revokeCertificates,
} from '../../../../src/platform/agents/identity/identity-rows.ts';
import { runToEnd } from '../../../support/process.ts';
import { DAY, IssuingPlace } from './issuing-place.ts';

let place: IssuingPlace;
let folder: string;

beforeAll(async () => {
  place = await IssuingPlace.open();
  folder = await mkdtemp(join(tmpdir(), 'certificates-'));
});

afterAll(async () => {
  await place.close();
  await rm(folder, { recursive: true });
});

type Issued = Awaited<ReturnType<IssuingPlace['issued']>>;

/** Verifies an agent's ECDSA certificate with openssl, at the place's time. */
async function opensslVerify({ identity }: Issued, ...more: string[]) {
  const leaf = join(folder, `${identity.certificate.serial}.pem`);
  const ca = join(folder, 'ca.pem');
  await writeFile(leaf, identity.certificate.pem);
  await writeFile(ca, await place.issuer.published.certificates('ecdsa'));
  const at = String(Math.floor(place.now / 1000));
  const words = ['verify', '-x509_strict', '-attime', at, '-CAfile', ca, ...more, leaf];
  const { code, stdout, stderr } = await runToEnd('openssl', words, { cwd: folder });
  return { code, said: stdout + stderr };
}

/** Verifies the certificate against the list of revoked certificates too. */
async function opensslChecks(issued: Issued) {
  const file = join(folder, 'ecdsa.crl');
  await writeFile(file, await place.issuer.published.revocationList('ecdsa'));
  return opensslVerify(issued, '-crl_check', '-CRLfile', file);
}

async function revoke({ agent }: Issued, reason: RevocationReason) {
  const identity = await currentIdentity(place.database, agent.agent_no);
  if (identity === null) throw new Error('the agent has no identity');
  const now = new Date(place.now);
  await place.database.write((transaction) => revokeCertificates(transaction, identity, { reason, now }));
  return identity;
}

describe('openssl and the ECDSA certificate of an agent', () => {
  test.each(['sslclient', 'sslserver'])('verifies it to its authority as an %s', async (purpose) => {
    const { code, said } = await opensslVerify(await place.issued(), '-purpose', purpose);
    expect(said).toContain(': OK');
    expect(code).toBe(0);
  });

  test('refuses it for what an authority does, and after its time', async () => {
    const issued = await place.issued();
    expect((await opensslVerify(issued, '-purpose', 'timestampsign')).code).not.toBe(0);
    place.now += 365 * DAY + 1000;
    const { code, said } = await opensslVerify(issued);
    place.now -= 365 * DAY + 1000;
    expect(said).toContain('certificate has expired');
    expect(code).not.toBe(0);
  });

  test.each(['cessationOfOperation', 'certificateHold', 'superseded'] as const)(
    'refuses it once it is on the list for %s, and not before',
    async (reason) => {
      const issued = await place.issued();
      const another = await place.issued();
      expect((await opensslChecks(issued)).said).toContain(': OK');
      await revoke(issued, reason);
      const after = await opensslChecks(issued);
      expect(after.said).toContain('certificate revoked');
      expect(after.code).not.toBe(0);
      expect((await opensslChecks(another)).said).toContain(': OK');
    },
  );

  test('accepts it again once a hold is lifted; nothing lifts what is for ever', async () => {
    const issued = await place.issued();
    const identity = await revoke(issued, 'certificateHold');
    const lifted = await place.database.write((transaction) => liftHold(transaction, identity));
    expect(lifted.toSorted()).toEqual([identity.ecdsa_serial, identity.ml_dsa_65_serial].toSorted());
    expect((await opensslChecks(issued)).said).toContain(': OK');

    await revoke(issued, 'certificateHold');
    await revoke(issued, 'cessationOfOperation');
    await revoke(issued, 'certificateHold');
    expect(await place.database.write((transaction) => liftHold(transaction, identity))).toEqual([]);
    expect((await opensslChecks(issued)).said).toContain('certificate revoked');
  });

  test('refuses it for as long as its agent is suspended', async () => {
    const issued = await place.issued();
    await place.setState(issued.agent, 'suspended');
    expect((await opensslChecks(issued)).said).toContain('certificate revoked');
    await place.setState(issued.agent, 'active');
    expect((await opensslChecks(issued)).said).toContain(': OK');
  });

  test('refuses that of before once its agent was onboarded again', async () => {
    const before = await place.issued();
    const after = { agent: before.agent, identity: await place.issue(before.agent) };
    expect((await opensslChecks(before)).said).toContain('certificate revoked');
    expect((await opensslChecks(after)).said).toContain(': OK');
  });
});

test('the list says who wrote it, for how long it stands, and why each certificate is on it', async () => {
  const held = await place.issued();
  const ended = await place.issued();
  await revoke(held, 'certificateHold');
  await revoke(ended, 'cessationOfOperation');
  const file = join(folder, 'list.crl');
  await writeFile(file, await place.issuer.published.revocationList('ecdsa'));
  await writeFile(join(folder, 'ca.pem'), await place.issuer.published.certificates('ecdsa'));
  const words = ['crl', '-inform', 'DER', '-in', file, '-CAfile', join(folder, 'ca.pem'), '-noout', '-text'];
  const { stdout, stderr } = await runToEnd('openssl', words, { cwd: folder });
  expect(stderr).toContain('verify OK');
  expect(stdout).toContain('Agents of platform.example, ECDSA authority 1');
  expect(stdout).toMatch(/Next Update: Nov 23 12:00:00 2026 GMT/);
  expect(stdout).toMatch(/X509v3 CRL Number:\s+\d+/);
  expect(stdout).toMatch(/X509v3 Authority Key Identifier/);
  const reasonOf = (serial: string) =>
    new RegExp(`Serial Number: ${serial.toUpperCase()}[^]*?Reason Code:\\s+([A-Za-z ]+)\\n`).exec(stdout)?.[1];
  expect(reasonOf(held.identity.certificate.serial)).toBe('Certificate Hold');
  expect(reasonOf(ended.identity.certificate.serial)).toBe('Cessation Of Operation');
});

describe('the profile of certificates', () => {
  /** Returns openssl's text form, which covers everything but ML-DSA keys. */
  async function textOf(pem: string): Promise<string> {
    const file = join(folder, 'text.pem');
    await writeFile(file, pem);
    const words = ['x509', '-in', file, '-noout', '-text', '-certopt', 'no_pubkey,no_sigdump'];
    return (await runToEnd('openssl', words, { cwd: folder })).stdout;
  }

  test.each(['ecdsa', 'ml_dsa_65'] as const)('an agent has an X.509-SVID: %s', async (kind) => {
    const { agent, identity } = await place.issued();
    const { pem, serial } = kind === 'ecdsa' ? identity.certificate : identity.certificate.pq;
    const file = kind === 'ecdsa' ? 'ecdsa' : 'ml-dsa-65';
    const text = await textOf(pem);
    expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/Extended Key Usage:\s+TLS Web Server Authentication, TLS Web Client Authentication\n/);
    expect(text).toMatch(new RegExp(`Alternative Name:\\s+URI:spiffe://platform.example/agents/${agent.agent_id}\\n`));
    expect(text).toContain(`URI:https://platform.example/agents/api/v1/public/crl/${file}.crl`);
    expect(text).toContain(`CN = ${agent.agent_id}, description = composition-sha256:${agent.composition}`);
    const certificate = new X509Certificate(pem);
    expect(certificate.serialNumber.toLowerCase()).toBe(serial);
    expect(serial).toMatch(/^[4-7][0-9a-f]{39}$/);
    expect(certificate.validToDate.toISOString()).toBe('2027-11-22T12:00:00.000Z');
    const [authority = ''] = (await place.issuer.published.certificates(kind)).split(
      /(?<=-----END CERTIFICATE-----\n)/,
    );
    expect(keyIdentifier(text, 'Authority')).toBe(keyIdentifier(await textOf(authority), 'Subject'));
  });

  test.each(['ecdsa', 'ml_dsa_65'] as const)('an authority signs certificates and lists only: %s', async (kind) => {
    const text = await textOf(await place.issuer.published.certificates(kind));
    expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Certificate Sign, CRL Sign\n/);
    expect(text).toMatch(/Alternative Name:\s+URI:spiffe:\/\/platform.example\n/);
    expect(text).not.toContain('Extended Key Usage');
  });

  const keyIdentifier = (text: string, whose: 'Authority' | 'Subject') =>
    new RegExp(`X509v3 ${whose} Key Identifier:\\s+(?:keyid:)?([0-9A-F:]{59})`).exec(text)?.[1] ?? `${whose}: none`;
});
