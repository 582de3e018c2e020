import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TokenFaultCode } from '../../src/timestamp/fault.ts';
import { MAX_TOKEN_BYTES } from '../../src/timestamp/token.ts';
import {
  algorithm,
  boolean,
  explicit,
  integer,
  NULL,
  octets,
  oid,
  sequence,
  set,
  time,
  tlv,
  utf8,
} from '../support/der.ts';
import { type ForgedCase, judgeForged, opensslJudges } from '../support/tsa-case.ts';
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
  statusInfo,
  statusText,
} from '../support/tsa-forge.ts';

let folder: string;
let root: Issued;
let signer: Issued;
let other: Issued;
let rsa: Issued;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokens-'));
  root = await issue({ subject: 'CN=Root', extensions: [ca()] });
  const extensions = [purposes(true, OID.timeStamping)];
  signer = await issue({ subject: 'O=Test,CN=Authority', issuer: root, extensions });
  other = await issue({ subject: 'CN=Other', issuer: root, extensions });
  const kind = {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  };
  rsa = await issue({ subject: 'CN=RSA', issuer: root, algorithm: kind, extensions });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

type Row = [name: string, der: () => Buffer, codes: TokenFaultCode[], openssl: boolean, rest?: Partial<ForgedCase>];

async function expectRow([name, der, codes, openssl, rest]: Row): Promise<void> {
  const one: ForgedCase = { name, der: der(), root, codes, openssl, ...rest };
  const verdict = judgeForged(one);
  expect(verdict.faults.map(({ code }) => code)).toEqual(codes);
  expect(verdict.valid).toBe(codes.length === 0);
  if (one.says !== undefined) expect(verdict.faults.map(({ message }) => message).join('\n')).toMatch(one.says);
  expect(await opensslJudges(folder, one), 'openssl').toBe(openssl);
}

const altered = (changes: Partial<Forgery>) => () => forge(signer, changes);
const withInfo = (change: (fields: Buffer[]) => Buffer[]) => altered({ info: change });
const pushed = (...more: (() => Buffer)[]) => withInfo((fields) => [...fields, ...more.map((make) => make())]);
const replaced = (index: number, make: () => Buffer) => withInfo((fields) => fields.with(index, make()));
const at = (genTime: string) => altered({ genTime });
const accuracy = (...parts: Buffer[]) => sequence(...parts);
const infoExtension = (...parts: Buffer[]) => explicit(1, sequence(oid('1.2.3.4'), ...parts, octets(NULL)));
const named = (make: () => Buffer) => explicit(0, explicit(4, make()));
const sha1 = digestOf('sha1', Buffer.from('an entry'));
const sha512 = digestOf('sha512', Buffer.from('an entry'));

const MALFORMED: TokenFaultCode[] = ['anchor/malformed'];
const BAD: TokenFaultCode[] = ['anchor/bad-signature'];
const OTHER: TokenFaultCode[] = ['anchor/imprint-mismatch'];
const NOT_GRANTED: TokenFaultCode[] = ['anchor/not-granted'];

describe('tokens that hold', () => {
  test.each<Row>([
    ['bare', altered({}), [], true],
    ['granted', altered({ status: statusInfo(0) }), [], true],
    ['granted with modifications', altered({ status: statusInfo(1, statusText('as you like it')) }), [], true],
    ['signed with RSA', () => forge(rsa), [], true],
    ['a fraction of a second', at('20260301120000.123456Z'), [], true],
    [
      'all that may stand in it',
      pushed(
        () => accuracy(integer(1), integer(500, 0x80), integer(20, 0x81)),
        () => boolean(true),
        () => integer(77n),
        () => named(() => identityOf(signer.der).subject),
        () => infoExtension(),
      ),
      [],
      true,
      { nonce: 77n },
    ],
    [
      'SHA-512 imprint',
      altered({ imprint: sha512, imprintAlgorithm: OID.sha512 }),
      [],
      true,
      { digest: sha512.toString('hex') },
    ],
    [
      'ESSCertID of RFC 2634',
      altered({
        attributes: ({ contentType, messageDigest }) => [
          contentType,
          messageDigest,
          attribute(
            OID.signingCertificate,
            sequence(sequence(certificateId('sha1', signer.der, issuerSerial(signer.der)))),
          ),
        ],
      }),
      [],
      true,
    ],
    [
      'both ESSCertIDs, the root named too',
      altered({
        attributes: (usual) => [
          ...Object.values(usual),
          attribute(
            OID.signingCertificate,
            sequence(sequence(certificateId('sha1', signer.der), certificateId('sha1', root.der))),
          ),
        ],
      }),
      [],
      true,
    ],
    ['unsigned attributes', altered({ unsigned: [attribute('1.2.3.5', NULL)] }), [], true],
  ])('%s', async (...row) => expectRow(row));
});

describe('what the authority says', () => {
  test.each<Row>([
    [
      'rejection without a token',
      () => sequence(statusInfo(2, statusText('no clock'), tlv(0x03, Buffer.from([6, 0x40])))),
      NOT_GRANTED,
      false,
      { says: /status 2, failure bits 1\): no clock/ },
    ],
    ['rejection with a token', altered({ status: statusInfo(2) }), NOT_GRANTED, false],
    [
      'a text that would steer a terminal',
      () => sequence(statusInfo(2, statusText('\u001b[2J\u202e'))),
      NOT_GRANTED,
      false,
      { says: /\\u\{1b\}\[2J\\u\{202e\}$/ },
    ],
    ['waiting', altered({ status: statusInfo(3) }), NOT_GRANTED, false],
    ['granted, but no token', () => sequence(statusInfo(0)), MALFORMED, false, { says: /there is none/ }],
    [
      'rejection, and over another digest',
      altered({ status: statusInfo(2), imprint: digestOf('sha256', Buffer.from('x')) }),
      ['anchor/not-granted', 'anchor/imprint-mismatch'],
      false,
    ],
  ])('%s', async (...row) => expectRow(row));
});

describe('what the token is over', () => {
  test.each<Row>([
    ['another digest', altered({ imprint: digestOf('sha256', Buffer.from('another')) }), OTHER, false],
    ['SHA-512 where we have SHA-256', altered({ imprint: sha512, imprintAlgorithm: OID.sha512 }), OTHER, false],
    [
      'SHA-1, of the same',
      altered({ imprint: sha1, imprintAlgorithm: OID.sha1 }),
      OTHER,
      true,
      { digest: sha1.toString('hex'), says: /SHA-1 digest, which is not accepted/ },
    ],
    [
      'fewer bytes than its algorithm makes',
      altered({ imprint: sha1 }),
      MALFORMED,
      true,
      { digest: sha1.toString('hex'), says: /20 bytes/ },
    ],
    ['another nonce', pushed(() => integer(5)), ['anchor/nonce-mismatch'], true, { nonce: 6n }],
    ['no nonce', altered({}), ['anchor/nonce-mismatch'], true, { nonce: 6n }],
    [
      'another authority in its name',
      pushed(() => named(() => identityOf(other.der).subject)),
      ['anchor/untrusted'],
      false,
      { says: /names another authority/ },
    ],
    [
      'another authority in its URI',
      pushed(() => explicit(0, tlv(0x86, Buffer.from('http://tsa.example')))),
      ['anchor/untrusted'],
      false,
    ],
  ])('%s', async (...row) => expectRow(row));
});

describe('TSTInfo', () => {
  test.each<Row>([
    ['version 2', replaced(0, () => integer(2)), MALFORMED, false, { says: /version 2/ }],
    [
      'a critical extension',
      pushed(() => infoExtension(boolean(true))),
      MALFORMED,
      true,
      { says: /critical extension 1.2.3.4/ },
    ],
    ['no policy', withInfo((fields) => fields.toSpliced(1, 1)), MALFORMED, false, { says: /policy/ }],
    ['a field too many', pushed(() => NULL), MALFORMED, false, { says: /too many/ }],
    ['bytes behind it', altered({ infoTail: Buffer.from([0]) }), MALFORMED, true, { says: /1 bytes follow/ }],
    ['time with an offset', at('20260301120000+0100'), MALFORMED, true, { says: /no GeneralizedTime/ }],
    ['time without seconds', at('202603011200Z'), MALFORMED, true],
    ['time with a comma', at('20260301120000,5Z'), MALFORMED, true],
    ['February 30', at('20260230120000Z'), MALFORMED, true, { says: /no date/ }],
    ['UTCTime', replaced(4, () => tlv(0x17, Buffer.from('260301120000Z'))), MALFORMED, false],
    ['a thousand milliseconds', pushed(() => accuracy(integer(1000, 0x80))), MALFORMED, true, { says: /millis/ }],
    ['a negative second', pushed(() => accuracy(tlv(0x02, Buffer.from([0xff])))), MALFORMED, true, { says: /seconds/ }],
    [
      'a truth between true and false',
      pushed(() => tlv(0x01, Buffer.from([1]))),
      MALFORMED,
      true,
      { says: /ordering/ },
    ],
    [
      'a number in too many octets',
      replaced(3, () => tlv(0x02, Buffer.from([0, 1]))),
      MALFORMED,
      false,
      { says: /more octets/ },
    ],
    [
      'a number of 65 octets',
      replaced(3, () => tlv(0x02, Buffer.alloc(65, 1))),
      MALFORMED,
      true,
      { says: /65 octets/ },
    ],
    [
      'two names',
      pushed(() =>
        explicit(0, explicit(4, identityOf(signer.der).subject), explicit(4, identityOf(signer.der).subject)),
      ),
      MALFORMED,
      false,
    ],
  ])('%s', async (...row) => expectRow(row));
});

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
      naming(() => certificateId('sha256', signer.der, issuerSerial(issuedElsewhere(), identityOf(signer.der).serial))),
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

  /** Its issuer is not the root. */
  const issuedElsewhere = () => forgedIssuer;
});

let forgedIssuer: Buffer;
beforeAll(async () => {
  forgedIssuer = (await issue({ subject: 'CN=Elsewhere', extensions: [ca()] })).der;
});

describe('SignedData', () => {
  test.each<Row>([
    ['another content', altered({ contentType: OID.data }), MALFORMED, false, { says: /signed content is of type/ }],
    ['version 1', altered({ version: 1 }), MALFORMED, true, { says: /version 1, not 3/ }],
    ['two signers', altered({ signers: (one) => [one, one] }), MALFORMED, false, { says: /2 values/ }],
    ['no signer', altered({ signers: () => [] }), MALFORMED, false, { says: /0 values/ }],
    ['a digest that is not announced', altered({ announced: [OID.sha512] }), MALFORMED, false, { says: /announce/ }],
    ['no certificate', altered({ certificates: [] }), ['anchor/untrusted'], false, { says: /lacks the certificate/ }],
    [
      'the certificate of somebody else',
      () => forge(signer, { certificates: [other.der] }),
      ['anchor/untrusted'],
      false,
    ],
    [
      'a certificate that is none',
      () => forge(signer, { certificates: [signer.der, sequence(integer(1))] }),
      MALFORMED,
      false,
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

describe('bytes', () => {
  const good = () => forge(signer);
  const nested = (depth: number) => {
    let inner = sequence();
    for (let level = 1; level < depth; level++) inner = sequence(inner);
    return inner;
  };
  /** The same token with its outermost length written differently. */
  const relength = (octetsOfLength: (length: number) => number[]) => () => {
    const content = good().subarray(4);
    return Buffer.concat([Buffer.from([0x30, ...octetsOfLength(content.length)]), content]);
  };

  test.each<Row>([
    ['none', () => Buffer.alloc(0), MALFORMED, false],
    ['text', () => Buffer.from('-----BEGIN PKCS7-----\n'), MALFORMED, false],
    [
      'one more behind the end',
      () => Buffer.concat([good(), Buffer.from([0])]),
      MALFORMED,
      true,
      { says: /1 bytes follow/ },
    ],
    ['a second token behind the end', () => Buffer.concat([good(), good()]), MALFORMED, true],
    [
      'a length of more octets than needed',
      relength((length) => [0x83, 0, length >> 8, length & 0xff]),
      MALFORMED,
      true,
      { says: /more octets than needed/ },
    ],
    [
      'an indefinite length',
      () => Buffer.concat([Buffer.from([0x30, 0x80]), good().subarray(4), Buffer.alloc(2)]),
      MALFORMED,
      true,
      { says: /indefinite/ },
    ],
    [
      'a length of 4 GiB',
      () => Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x30]),
      MALFORMED,
      false,
      { says: /4294967295 bytes/ },
    ],
    ['a length of 127 octets', () => Buffer.from([0x30, 0xff, ...Buffer.alloc(127, 0xff)]), MALFORMED, false],
    ['33 levels', () => nested(33), MALFORMED, false, { says: /nested deeper/ }],
    ['10,000 levels', () => nested(10_000), MALFORMED, false, { says: /nested deeper/ }],
    [
      'a constructed string',
      () => sequence(tlv(0x24, octets(Buffer.from('x')))),
      MALFORMED,
      false,
      { says: /constructed/ },
    ],
    ['a high tag', () => sequence(tlv(0x1f, Buffer.from([1]))), MALFORMED, false, { says: /above 30/ }],
    ['no sequence', () => set(integer(1)), MALFORMED, false],
    ['an object identifier that never ends', () => sequence(tlv(0x06, Buffer.from([0x2a, 0x80]))), MALFORMED, false],
    [
      'too many',
      () => sequence(statusInfo(2), octets(Buffer.alloc(MAX_TOKEN_BYTES))),
      MALFORMED,
      false,
      { says: /more than 65536/ },
    ],
    [
      'a response with something in the place of its token',
      () => sequence(statusInfo(0), utf8('token')),
      MALFORMED,
      false,
    ],
    [
      'a response that goes on behind its token',
      () => sequence(statusInfo(0), good(), time('20260301120000Z')),
      MALFORMED,
      false,
    ],
  ])('%s', async (...row) => expectRow(row));

  test('cut off at every length, it is malformed', () => {
    const whole = forge(signer, { status: statusInfo(0) });
    for (let length = 0; length < whole.length; length++)
      expect(judgeForged({ der: whole.subarray(0, length), root }).faults.map(({ code }) => code)).toEqual(MALFORMED);
  });

  test('each bit of each byte flipped, it is refused without an exception', () => {
    const whole = forge(signer);
    const accepted: number[] = [];
    for (let place = 0; place < whole.length; place++)
      for (let bit = 0; bit < 8; bit++) {
        const der = Buffer.from(whole);
        der.writeUInt8(der.readUInt8(place) ^ (1 << bit), place);
        if (judgeForged({ der, root }).valid) accepted.push(place);
      }
    // But for the case of the letters of "Root" where the signer's certificate is looked up by its issuer: nothing that
    // is signed, and equal as names are (RFC 5280 section 7.1).
    const letters = whole.lastIndexOf('Root');
    expect(accepted).toEqual([0, 1, 2, 3].map((letter) => letters + letter));
  });
});

test('what the token says is returned as it stands', () => {
  const der = forge(signer, {
    genTime: '20260301120000.1239Z',
    info: (fields) => [...fields, sequence(integer(1), integer(500, 0x80))],
  });
  const { says } = judgeForged({ der, root });
  expect(says).toEqual({
    genTime: new Date('2026-03-01T12:00:00.123Z'),
    genTimeText: '20260301120000.1239Z',
    accuracy: { seconds: 1, millis: 500, micros: 0 },
    policy: '1.3.6.1.4.1.99999.1',
    serial: '2a',
    hashAlgorithm: 'sha256',
    imprint: digestOf('sha256', Buffer.from('an entry')).toString('hex'),
    authority: 'O=Test, CN=Authority',
  });
});

test('a digest that is not hex is a mistake of the caller', () => {
  expect(() => judgeForged({ der: forge(signer), root, digest: 'sha256:00' })).toThrow(TypeError);
});
