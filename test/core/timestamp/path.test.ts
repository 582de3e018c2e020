import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenFindingCode } from '../../../src/core/timestamp/token-finding.ts';
import { octets, oid, sequence, tlv } from '../../support/der.ts';
import { type ForgedCase, forgedCases, judgeForged } from '../../support/tsa-case.ts';
import {
  type CertificateOptions,
  ca,
  extension,
  forge,
  type Issued,
  issue,
  OID,
  purposes,
  USAGE,
  usage,
} from '../../support/tsa-forge.ts';

const UNTRUSTED: TokenFindingCode[] = ['anchor/untrusted'];
const UNKNOWN_ISSUER: TokenFindingCode[] = ['anchor/unknown-issuer'];
const NOT_TSA: TokenFindingCode[] = ['anchor/not-timestamping'];
const EXPIRED: TokenFindingCode[] = ['anchor/certificate-expired'];
const MALFORMED: TokenFindingCode[] = ['anchor/malformed'];
const STAMPING = purposes(true, OID.timeStamping);
const UNKNOWN = '1.2.3.4.5';
const RSA_1024 = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 1024,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
};

const expectCase = forgedCases();
let root: Issued;
let otherRoot: Issued;

beforeAll(async () => {
  root = await issue({ subject: 'CN=Root', from: '2020-01-01', to: '2040-01-01', extensions: [ca()] });
  otherRoot = await issue({ subject: 'CN=Other Root', from: '2020-01-01', to: '2040-01-01', extensions: [ca()] });
});

interface Chain {
  signer?: Partial<CertificateOptions>;
  /** Certificates below the root, each issued by the one before. */
  between?: Partial<CertificateOptions>[];
  root?: Issued;
  /** Index in `between` of the certificate that the token omits. */
  hidden?: number;
}

/** Returns a token over a certificate path, and its root. */
async function chained({
  signer,
  between = [],
  root: top = root,
  hidden,
}: Chain): Promise<{ der: Buffer; root: Issued }> {
  let issuer = top;
  const carried: Buffer[] = [];
  for (const [number, options] of between.entries()) {
    issuer = await issue({ subject: `CN=CA ${number}`, issuer, extensions: [ca()], ...options });
    if (number !== hidden) carried.push(issuer.der);
  }
  const last = await issue({ subject: 'CN=Authority', issuer, extensions: [STAMPING], ...signer });
  return { der: forge(last, { certificates: [last.der, ...carried] }), root: top };
}

type Row = [
  name: string,
  chain: Chain,
  codes: TokenFindingCode[],
  openssl: boolean,
  rest?: Partial<Pick<ForgedCase, 'says' | 'now'>>,
];

async function expectRow([name, chain, codes, openssl, rest]: Row): Promise<void> {
  await expectCase({ name, ...(await chained(chain)), codes, openssl, ...rest });
}

describe('what the certificate of the signer is for', () => {
  const signer = (...extensions: NonNullable<CertificateOptions['extensions']>): Chain => ({ signer: { extensions } });
  test.each<Row>([
    ['time stamping', signer(STAMPING), [], true],
    ['time stamping, by digital signature', signer(STAMPING, usage(USAGE.digitalSignature)), [], true],
    ['time stamping, not to be repudiated', signer(STAMPING, usage(USAGE.nonRepudiation)), [], true],
    ['nothing said', signer(), NOT_TSA, false, { says: /is not for time stamping/ }],
    ['a web server', signer(purposes(true, OID.serverAuth)), NOT_TSA, false],
    ['anything', signer(purposes(true, '2.5.29.37.0')), NOT_TSA, false],
    ['time stamping, not critical', signer(purposes(false, OID.timeStamping)), NOT_TSA, false, { says: /critical/ }],
    ['a web server too', signer(purposes(true, OID.timeStamping, OID.serverAuth)), NOT_TSA, false, { says: /alone/ }],
    ['something unheard of too', signer(purposes(true, OID.timeStamping, UNKNOWN)), NOT_TSA, true, { says: /alone/ }],
    ['two faults at once', signer(purposes(false, OID.timeStamping, OID.serverAuth)), [...NOT_TSA, ...NOT_TSA], false],
    ['keys, besides', signer(STAMPING, usage(USAGE.keyEncipherment)), NOT_TSA, false, { says: /keyUsage/ }],
    ['signatures and keys', signer(STAMPING, usage(USAGE.digitalSignature | USAGE.keyEncipherment)), NOT_TSA, false],
  ])('%s', async (...row) => expectRow(row));
});

describe('validity at the time of the token', () => {
  const expired = { to: '2026-03-01T11:59:59Z' };
  const early = { from: '2026-03-01T12:00:01Z' };
  const later = new Date('2027-06-01T00:00:00Z');
  test.each<Row>([
    ['the last second but one', { signer: { to: '2026-03-01T12:00:01Z' } }, [], true],
    ['the last second', { signer: { to: '2026-03-01T12:00:00Z' } }, UNTRUSTED, false],
    ['the first second', { signer: { from: '2026-03-01T12:00:00Z' } }, [], true],
    ['signer expired', { signer: expired }, UNTRUSTED, false, { says: /CN=Authority is valid from/ }],
    ['signer not yet valid', { signer: early }, UNTRUSTED, false],
    ['CA expired', { between: [expired] }, UNTRUSTED, false, { says: /CN=CA 0 is valid from/ }],
    ['CA not yet valid', { between: [early] }, UNTRUSTED, false],
    ['signer and CA expired', { signer: expired, between: [expired] }, [...UNTRUSTED, ...UNTRUSTED], false],
    ['expired since', {}, EXPIRED, true, { now: later, says: /CN=Authority was valid/ }],
    ['CA expired since', { between: [{ to: '2026-06-01' }] }, EXPIRED, true, { now: later, says: /CN=CA 0 was valid/ }],
  ])('%s', async (...row) => expectRow(row));

  test.each(['2026-03-01T11:59:59Z', '2019-01-01T00:00:00Z'])('root until %s', async (to) => {
    const top = await issue({ subject: 'CN=Old', from: '2018-01-01', to, extensions: [ca()] });
    const one = await chained({ root: top });
    await expectCase({ name: 'root', ...one, codes: UNTRUSTED, openssl: false, says: /CN=Old is valid from/ });
  });
});

describe('the path to a pinned root', () => {
  const nameConstraints = (critical: boolean) =>
    extension('2.5.29.30', critical, sequence(tlv(0xa0, sequence(tlv(0x82, Buffer.from('example.org'))))));
  const wrongKeyId = extension('2.5.29.35', false, sequence(tlv(0x80, Buffer.alloc(20, 1))));
  const keyId = extension('2.5.29.14', false, octets(Buffer.alloc(20, 2)));
  test.each<Row>([
    ['over a CA', { between: [{}] }, [], true],
    ['over three CAs', { between: [{}, {}, {}] }, [], true],
    [
      'over a CA that says all it may',
      { between: [{ extensions: [ca(0), usage(USAGE.keyCertSign), STAMPING] }] },
      [],
      true,
    ],
    ['over six CAs', { between: [{}, {}, {}, {}, {}, {}] }, [], true],
    ['over seven CAs', { between: [{}, {}, {}, {}, {}, {}, {}] }, UNKNOWN_ISSUER, true, { says: /no path/ }],
    ['a CA is missing', { between: [{}, {}], hidden: 0 }, UNKNOWN_ISSUER, false, { says: /no path leads/ }],
    [
      'a CA without basicConstraints',
      { between: [{ extensions: [] }] },
      UNTRUSTED,
      false,
      { says: /not that of a CA/ },
    ],
    [
      'a CA that says it is none',
      { between: [{ extensions: [extension('2.5.29.19', true, sequence())] }] },
      UNTRUSTED,
      false,
    ],
    [
      'a CA that may not sign',
      { between: [{ extensions: [ca(), usage(USAGE.digitalSignature)] }] },
      UNTRUSTED,
      false,
      { says: /may not sign/ },
    ],
    [
      'a CA below one that allows none',
      { between: [{ extensions: [ca(0)] }, {}] },
      UNTRUSTED,
      false,
      { says: /allows 0 intermediate/ },
    ],
    ['a CA below one that allows one', { between: [{ extensions: [ca(1)] }, {}] }, [], true],
    [
      'a CA for web servers only',
      { between: [{ extensions: [ca(), purposes(false, OID.serverAuth)] }] },
      UNTRUSTED,
      true,
      { says: /may not issue/ },
    ],
    [
      'a CA with an unknown critical extension',
      { between: [{ extensions: [ca(), extension(UNKNOWN, true, octets(oid('1.2.3')))] }] },
      UNTRUSTED,
      false,
      { says: /1\.2\.3\.4\.5/ },
    ],
    [
      'a CA with an unknown extension',
      { between: [{ extensions: [ca(), extension(UNKNOWN, false, octets(oid('1.2.3')))] }] },
      [],
      true,
    ],
    [
      'a CA with name constraints',
      { between: [{ extensions: [ca(), nameConstraints(true)] }] },
      UNTRUSTED,
      true,
      { says: /2\.5\.29\.30/ },
    ],
    [
      'a CA with name constraints, not critical',
      { between: [{ extensions: [ca(), nameConstraints(false)] }] },
      UNTRUSTED,
      true,
    ],
    [
      'a CA with the identifier of another key',
      { between: [{ extensions: [ca(), keyId] }], signer: { extensions: [STAMPING, wrongKeyId] } },
      UNTRUSTED,
      false,
      { says: /authorityKeyIdentifier/ },
    ],
    [
      'the signer, with an unknown critical extension',
      { signer: { extensions: [STAMPING, extension(UNKNOWN, true, octets(oid('1.2.3')))] } },
      UNTRUSTED,
      false,
    ],
    [
      'a certificate signed with SHA-1',
      { signer: { hash: 'SHA-1' } },
      UNTRUSTED,
      true,
      { says: /signed with ECDSA with SHA-1/ },
    ],
    ['a CA signed with SHA-1', { between: [{ hash: 'SHA-1' }] }, UNTRUSTED, true],
    ['a signer of 1024 bits', { signer: { algorithm: RSA_1024 } }, UNTRUSTED, true, { says: /RSA key of 1024 bits/ }],
    [
      'a CA of 1024 bits',
      { between: [{ algorithm: RSA_1024 }] },
      UNTRUSTED,
      true,
      { says: /CN=CA 0 has an RSA key of 1024/ },
    ],
    ['an extension twice', { signer: { extensions: [STAMPING, STAMPING] } }, MALFORMED, false, { says: /twice/ }],
  ])('%s', async (...row) => expectRow(row));
});

describe('roots that nobody pinned', () => {
  test('another root of the same name', async () => {
    const impostor = await issue({ subject: 'CN=Root', extensions: [ca()] });
    const { der } = await chained({ root: impostor });
    await expectCase({ name: 'impostor', der, root, codes: UNKNOWN_ISSUER, openssl: false, says: /no path leads/ });
  });

  test('a root that the token carries', async () => {
    const last = await issue({ subject: 'CN=Authority', issuer: otherRoot, extensions: [STAMPING] });
    const der = forge(last, { certificates: [last.der, otherRoot.der] });
    await expectCase({ name: 'carried', der, root, codes: UNKNOWN_ISSUER, openssl: false });
  });

  test('an authority that signed its own certificate', async () => {
    const own = await issue({ subject: 'CN=Own', extensions: [STAMPING] });
    await expectCase({ name: 'own', der: forge(own), root, codes: UNKNOWN_ISSUER, openssl: false });
  });

  test('no root at all', async () => {
    const { der } = await chained({});
    const { faults } = judgeForged({ der, root, roots: [] });
    expect(faults).toEqual([{ code: 'anchor/unknown-issuer', message: 'no root is pinned' }]);
  });

  test('the pinned root in the token too', async () => {
    const last = await issue({ subject: 'CN=Authority', issuer: root, extensions: [STAMPING] });
    const der = forge(last, { certificates: [last.der, root.der] });
    await expectCase({ name: 'both', der, root, codes: [], openssl: true });
  });
});

describe('certificates given beside the token', () => {
  test('complete the path, the one of the signer included', async () => {
    const between = await issue({ subject: 'CN=CA', issuer: root, extensions: [ca()] });
    const last = await issue({ subject: 'CN=Authority', issuer: between, extensions: [STAMPING] });
    const alone = forge(last);
    const bare = forge(last, { certificates: [] });
    await expectCase({ name: 'alone', der: alone, root, codes: UNKNOWN_ISSUER, openssl: false });
    await expectCase({ name: 'helped', der: alone, root, intermediates: [between], codes: [], openssl: true });
    await expectCase({ name: 'bare', der: bare, root, intermediates: [between, last], codes: [], openssl: true });
  });

  test('lend no trust', async () => {
    const last = await issue({ subject: 'CN=Authority', issuer: otherRoot, extensions: [STAMPING] });
    const one = { der: forge(last), root, intermediates: [otherRoot] };
    await expectCase({ name: 'another root', ...one, codes: UNKNOWN_ISSUER, openssl: false });
  });
});

test('of two paths the one that holds is taken', async () => {
  const old = await issue({ subject: 'CN=CA', issuer: root, to: '2026-01-01', extensions: [ca()] });
  const renewed = await issue({ subject: 'CN=CA', issuer: root, keys: old.keys, extensions: [ca()] });
  const last = await issue({ subject: 'CN=Authority', issuer: old, extensions: [STAMPING] });
  const der = forge(last, { certificates: [last.der, old.der, renewed.der] });
  await expectCase({ name: 'two', der, root, codes: [], openssl: true });
});

test('a maze of certificates that all issued each other ends', { timeout: 5000 }, async () => {
  const own = await issue({ subject: 'CN=A', extensions: [ca()] });
  const side = (subject: string, issuer: string) =>
    Array.from({ length: 7 }, () =>
      issue({ subject, issuer: { ...own, subject: issuer }, keys: own.keys, extensions: [ca()] }),
    );
  const maze = await Promise.all([...side('CN=A', 'CN=B'), ...side('CN=B', 'CN=A')]);
  const last = await issue({ subject: 'CN=Authority', issuer: own, extensions: [STAMPING] });
  const der = forge(last, { certificates: [last.der, ...maze.map((one) => one.der)] });
  await expectCase({ name: 'maze', der, root, codes: UNKNOWN_ISSUER, openssl: false, says: /no path leads/ });
});

test('a root of the right key and another name is not the issuer', async () => {
  const renamed = await issue({ subject: 'CN=Renamed', keys: root.keys, extensions: [ca()] });
  const { der } = await chained({});
  const one = { der, root: renamed, codes: UNKNOWN_ISSUER, openssl: false };
  await expectCase({ name: 'renamed', ...one, says: /no path leads/ });
});

test('a certificate in PEM inside a certificate is not read in its place', async () => {
  const inner = await issue({ subject: 'CN=Inner', issuer: root, extensions: [STAMPING] });
  const disguise = extension(UNKNOWN, false, octets(Buffer.from(`\n${inner.pem}\n`)));
  const outer = await issue({ subject: 'CN=Outer', extensions: [STAMPING, disguise] });
  const der = forge(outer, { signedWith: inner.key });
  await expectCase({ name: 'disguise', der, root, codes: MALFORMED, openssl: false, says: /reads as other bytes/ });
});

test('a curve that is not one of the three is refused', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  const one = await issue({ subject: 'CN=Authority', issuer: root, extensions: [STAMPING], publicKey });
  const der = forge({ ...one, key: privateKey });
  await expectCase({ name: 'curve', der, root, codes: UNTRUSTED, openssl: true, says: /EC key on secp256k1/ });
});
