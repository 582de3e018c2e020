import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PublicJwk } from '../../../../src/platform/agents/identity/identity-rows.ts';
import { runToEnd } from '../../../support/process.ts';
import { DATABASES, type DatabasePlace, startSqlitePlace } from '../../database/databases.ts';
import { DAY, IssuingPlace } from './issuing-place.ts';
import { verifyPassport } from './passport-verification.ts';

let place: IssuingPlace;

/** Gives each test its own database. */
function onDatabasesOf(start: () => Promise<DatabasePlace>): void {
  let databases: DatabasePlace;
  beforeAll(async () => {
    databases = await start();
  });
  beforeEach(async () => {
    place = await IssuingPlace.among(databases);
  });
  afterAll(() => databases.close());
}

const YEAR = 365.25 * DAY;

const authorities = async (kind: 'ecdsa' | 'ml_dsa_65' = 'ecdsa') =>
  (await place.issuer.published.certificates(kind))
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((pem) => pem !== '')
    .map((pem) => new X509Certificate(pem));

describe("the platform's own keys", () => {
  onDatabasesOf(startSqlitePlace);

  test('the next keys are published a year before they sign, and no certificate outlives its authority', async () => {
    const [first] = await authorities();
    const old = await place.issued();
    const published: number[] = [];
    const signedBy: (string | undefined)[] = [];
    for (const years of [7.9, 8.1, 8.9, 9.1, 9.9]) {
      place.now = Date.parse('2026-11-22T12:00:00Z') + years * YEAR;
      await place.issuer.start();
      published.push((await authorities()).length);
      const { identity } = await place.issued();
      for (const kind of ['ecdsa', 'ml_dsa_65'] as const) {
        const pem = kind === 'ecdsa' ? identity.certificate.pem : identity.certificate.pq.pem;
        const leaf = new X509Certificate(pem);
        const issuer = (await authorities(kind)).find(({ publicKey }) => leaf.verify(publicKey));
        expect(Number(issuer?.validToDate)).toBeGreaterThanOrEqual(Number(leaf.validToDate));
        if (kind === 'ecdsa') signedBy.push(issuer?.subject.at(-1));
      }
    }
    expect(published).toEqual([1, 2, 2, 2, 2]);
    expect(signedBy).toEqual(['1', '1', '1', '2', '2']);
    // The first key expired, and with it everything that it signed.
    place.now = Number(first?.validToDate) + 1000;
    await place.issuer.start();
    expect(await authorities()).toHaveLength(1);
    await expect(place.issuer.published.revocationList('ecdsa')).rejects.toMatchObject({ code: 'not_found' });
    expect(Date.parse(old.identity.certificate.not_after)).toBeLessThan(Number(first?.validToDate));
  });

  test('where nobody made them in time, they are made when they are needed', async () => {
    place.now += 9.5 * YEAR;
    const { identity } = await place.issued();
    expect(new X509Certificate(identity.certificate.pem).issuer).toContain('authority 2');
  });

  test('what the keys of before signed stays verifiable, and revocable on their own list', async () => {
    place.now += 8.95 * YEAR;
    await place.issuer.start();
    const before = await place.issued();
    place.now += 0.1 * YEAR;
    const after = await place.issued();
    const { keys } = await place.issuer.published.jwks();
    expect(keys).toHaveLength(4);
    for (const { identity } of [before, after]) {
      const trust = { keys: keys as PublicJwk[], issuer: 'https://platform.example/agents', now: new Date(place.now) };
      expect(verifyPassport(JSON.parse(identity.passport.jws), trust)).toMatchObject({ accepted: true });
    }

    const folder = await mkdtemp(join(tmpdir(), 'generations-'));
    const verify = async (pem: string, list: string) => {
      const file = (name: string) => join(folder, name);
      await writeFile(file('leaf'), pem);
      await writeFile(file('cas'), await place.issuer.published.certificates('ecdsa'));
      await writeFile(file('crl'), await place.issuer.published.revocationList(list));
      const at = ['-attime', String(Math.floor(place.now / 1000))];
      const words = ['verify', ...at, '-CAfile', file('cas'), '-crl_check', '-CRLfile', file('crl'), file('leaf')];
      const { stdout, stderr } = await runToEnd('openssl', words, { cwd: folder });
      return stdout + stderr;
    };
    expect(await verify(before.identity.certificate.pem, 'ecdsa')).toContain(': OK');
    expect(await verify(after.identity.certificate.pem, 'ecdsa-2')).toContain(': OK');
    expect(await verify(after.identity.certificate.pem, 'ecdsa')).toContain('unable to get certificate CRL');
    await place.setState(before.agent, 'suspended');
    expect(await verify(before.identity.certificate.pem, 'ecdsa')).toContain('certificate revoked');
    expect(await verify(after.identity.certificate.pem, 'ecdsa-2')).toContain(': OK');
    await rm(folder, { recursive: true });
  });
});

describe.each(DATABASES)('on %s', (_name, start) => {
  onDatabasesOf(start);

  test('several processes that start at once have the same keys', async () => {
    place.now += 9 * YEAR;
    const others = [place.issuerWith(), place.issuerWith(), place.issuerWith()];
    await Promise.all(others.map((issuer) => issuer.start()));
    const kids = await Promise.all(
      others.map(async ({ published }) => (await published.jwks()).keys.map(({ kid }) => kid)),
    );
    expect(kids[0]).toHaveLength(4);
    expect(kids).toEqual([kids[0], kids[0], kids[0]]);
  });

  test('nobody reads the private keys in the database, or opens them with another master key', async () => {
    const rows = place.database.tables<{ agent_authorities: { private_keys: Uint8Array } }>();
    const { private_keys } = await rows.selectFrom('agent_authorities').selectAll().executeTakeFirstOrThrow();
    expect(Buffer.from(private_keys).toString('latin1')).not.toContain('EdDSA');
    await expect(place.issuerWith(randomBytes(32)).published.jwks()).rejects.toThrow();
    await expect(place.issuer.published.jwks()).resolves.toMatchObject({
      keys: [{ alg: 'EdDSA' }, { alg: 'ML-DSA-65' }],
    });
  });

  test('an agent that is onboarded again has another identity, in the place of the one before', async () => {
    const { agent, identity } = await place.issued();
    const again = await place.issue(agent);
    expect(again.quantum_identity.did).toBe(identity.quantum_identity.did);
    expect(again.quantum_identity.public_keys).not.toEqual(identity.quantum_identity.public_keys);
    const tables = place.database.tables<{
      agent_identities: { issue_no: number; passport_status: string; passport_jti: string };
    }>();
    const rows = tables.selectFrom('agent_identities').select(['issue_no', 'passport_status', 'passport_jti']);
    expect(await rows.orderBy('issue_no').execute()).toEqual([
      { issue_no: 1, passport_status: 'superseded', passport_jti: identity.passport.jti },
      { issue_no: 2, passport_status: 'valid', passport_jti: again.passport.jti },
    ]);
    const suspend = () => place.database.write((transaction) => place.issuer.suspendPassport(transaction, agent));
    expect(await suspend()).toBe(again.passport.jti);
    expect(await suspend()).toBeNull();
  });
});
