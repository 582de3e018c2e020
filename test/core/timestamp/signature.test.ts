import { beforeAll, describe, test } from 'vitest';
import type { TokenFindingCode } from '../../../src/core/timestamp/token-finding.ts';
import { algorithm, integer, NULL, octets, oid, sequence } from '../../support/der.ts';
import { type ForgedCase, forgedCases } from '../../support/tsa-case.ts';
import {
  attribute,
  ca,
  certificateId,
  digestOf,
  type Forgery,
  forge,
  type Issued,
  identityOf,
  issue,
  issuerSerial,
  OID,
  purposes,
} from '../../support/tsa-forge.ts';

const expectCase = forgedCases();
let root: Issued;
let signer: Issued;
let other: Issued;
let rsa: Issued;
/** A certificate whose issuer is not the root. */
let elsewhere: Issued;

beforeAll(async () => {
  root = await issue({ subject: 'CN=Root', extensions: [ca()] });
  const extensions = [purposes(true, OID.timeStamping)];
  signer = await issue({ subject: 'O=Test,CN=Authority', issuer: root, extensions });
  other = await issue({ subject: 'CN=Other', issuer: root, extensions });
  elsewhere = await issue({ subject: 'CN=Elsewhere', extensions: [ca()] });
  const kind = {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  };
  rsa = await issue({ subject: 'CN=RSA', issuer: root, algorithm: kind, extensions });
});

type Row = [name: string, der: () => Buffer, codes: TokenFindingCode[], openssl: boolean, rest?: Partial<ForgedCase>];

async function expectRow([name, der, codes, openssl, rest]: Row): Promise<void> {
  await expectCase({ name, der: der(), root, codes, openssl, ...rest });
}

const altered = (changes: Partial<Forgery>) => () => forge(signer, changes);
const MALFORMED: TokenFindingCode[] = ['anchor/malformed'];
const BAD: TokenFindingCode[] = ['anchor/bad-signature'];

describe('the signature', () => {
  const without = (name: keyof Parameters<Forgery['attributes']>[0]) =>
    altered({ attributes: (usual) => Object.entries(usual).flatMap(([key, value]) => (key === name ? [] : [value])) });
  const instead = (name: keyof Parameters<Forgery['attributes']>[0], make: () => Buffer) =>
    altered({ attributes: (usual) => Object.values({ ...usual, [name]: make() }) });
  const naming = (...ids: (() => Buffer)[]) =>
    instead('signingCertificate', () =>
      attribute(OID.signingCertificateV2, sequence(sequence(...ids.map((make) => make())))),
    );

  test.each<Row>([
    [
      'of another key',
      () => forge(signer, { signedWith: other.key }),
      BAD,
      false,
      { says: /not that of O=Test, CN=Authority/ },
    ],
    ['over the attributes as they stand', altered({ signedAs: 'context' }), BAD, false],
    [
      'with SHA-1',
      altered({ digest: 'sha1', announced: [OID.sha1], signatureAlgorithm: algorithm(OID.ecdsaSha1) }),
      BAD,
      true,
      { says: /SHA-1/ },
    ],
    [
      'said to be with another digest',
      altered({ signatureAlgorithm: algorithm(OID.ecdsaSha384) }),
      BAD,
      true,
      { says: /must be the same/ },
    ],
    [
      'said to be of another kind of key',
      altered({ signatureAlgorithm: algorithm(OID.rsa, NULL) }),
      BAD,
      true,
      { says: /does not sign with RSA/ },
    ],
    [
      'said to be RSASSA-PSS',
      () => forge(rsa, { signatureAlgorithm: algorithm(OID.rsaPss, NULL) }),
      BAD,
      true,
      { says: /RSASSA-PSS/ },
    ],
    [
      'over the digest of another content',
      instead('messageDigest', () => attribute(OID.messageDigest, octets(Buffer.alloc(32)))),
      BAD,
      false,
      { says: /signed digest/ },
    ],
    ['without contentType', without('contentType'), MALFORMED, true, { says: /contentType/ }],
    ['without messageDigest', without('messageDigest'), MALFORMED, false, { says: /messageDigest/ }],
    ['without signingCertificate', without('signingCertificate'), MALFORMED, false, { says: /do not name/ }],
    [
      'over another contentType',
      instead('contentType', () => attribute(OID.contentType, oid(OID.data))),
      MALFORMED,
      true,
      { says: /contentType/ },
    ],
    [
      'over two contentTypes',
      instead('contentType', () => attribute(OID.contentType, oid(OID.tstInfo), oid(OID.tstInfo))),
      MALFORMED,
      true,
      { says: /2 values/ },
    ],
    [
      'over an attribute twice',
      altered({ attributes: ({ contentType, ...usual }) => [contentType, contentType, ...Object.values(usual)] }),
      MALFORMED,
      true,
      { says: /twice/ },
    ],
    [
      'naming another certificate',
      naming(() => certificateId('sha256', other.der)),
      BAD,
      false,
      { says: /name another certificate/ },
    ],
    [
      'naming the certificate second',
      naming(
        () => certificateId('sha256', root.der),
        () => certificateId('sha256', signer.der),
      ),
      ['anchor/bad-signature', 'anchor/untrusted'],
      false,
    ],
    ['naming no certificate', naming(), MALFORMED, false],
    [
      'naming a certificate that is not on the path',
      naming(
        () => certificateId('sha256', signer.der),
        () => certificateId('sha256', other.der),
      ),
      ['anchor/untrusted'],
      false,
      { says: /not on the path/ },
    ],
    [
      'naming another serial number',
      naming(() => certificateId('sha256', signer.der, issuerSerial(signer.der, integer(9)))),
      BAD,
      false,
    ],
    [
      'naming another issuer',
      naming(() => certificateId('sha256', signer.der, issuerSerial(elsewhere.der, identityOf(signer.der).serial))),
      BAD,
      false,
    ],
    [
      'naming it in SHA-1',
      naming(() => sequence(algorithm(OID.sha1), octets(digestOf('sha1', signer.der)))),
      MALFORMED,
      true,
      { says: /ESSCertIDv2 uses/ },
    ],
    [
      'naming it rightly once and wrongly once',
      altered({
        attributes: (usual) => [
          ...Object.values(usual),
          attribute(OID.signingCertificate, sequence(sequence(certificateId('sha1', other.der)))),
        ],
      }),
      BAD,
      false,
    ],
  ])('%s', async (...row) => expectRow(row));
});

describe('SignedData', () => {
  const version2 = (certificate: Buffer) => {
    const der = Buffer.from(certificate);
    const version = der.indexOf(Buffer.from([0xa0, 3, 2, 1, 2]));
    der.writeUInt8(1, version + 4);
    return der;
  };
  test.each<Row>([
    ['another content', altered({ contentType: OID.data }), MALFORMED, false, { says: /signed content is of type/ }],
    ['version 1', altered({ version: 1 }), MALFORMED, true, { says: /version 1, not 3/ }],
    ['two signers', altered({ signers: (one) => [one, one] }), MALFORMED, false, { says: /2 values/ }],
    ['no signer', altered({ signers: () => [] }), MALFORMED, false, { says: /0 values/ }],
    ['a digest that is not announced', altered({ announced: [OID.sha512] }), MALFORMED, false, { says: /announce/ }],
    [
      'no certificate',
      altered({ certificates: [] }),
      ['anchor/unknown-issuer'],
      false,
      { says: /neither in the token nor given/ },
    ],
    [
      'the certificate of somebody else',
      () => forge(signer, { certificates: [other.der] }),
      ['anchor/unknown-issuer'],
      false,
    ],
    [
      'a certificate that is none',
      () => forge(signer, { certificates: [signer.der, sequence(integer(1))] }),
      MALFORMED,
      false,
    ],
    [
      'a certificate of version 2 with extensions',
      () => forge(signer, { certificates: [signer.der, version2(other.der)] }),
      MALFORMED,
      true,
      { says: /before version 3/ },
    ],
    [
      'seventeen certificates',
      () => forge(signer, { certificates: Array.from({ length: 17 }, () => signer.der) }),
      MALFORMED,
      true,
      { says: /17 certificates/ },
    ],
    ['an unsigned attribute that is none', altered({ unsigned: [NULL] }), MALFORMED, false],
  ])('%s', async (...row) => expectRow(row));
});
