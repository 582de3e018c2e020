import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenFindingCode } from '../../../src/core/timestamp/token-finding.ts';
import { boolean, explicit, integer, NULL, octets, oid, sequence, tlv } from '../../support/der.ts';
import { type ForgedCase, forgedCases, judgeForged } from '../../support/tsa-case.ts';
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
} from '../../support/tsa-forge.ts';

const expectCase = forgedCases();
let root: Issued;
let signer: Issued;
let other: Issued;
let rsa: Issued;

beforeAll(async () => {
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

type Row = [name: string, der: () => Buffer, codes: TokenFindingCode[], openssl: boolean, rest?: Partial<ForgedCase>];

async function expectRow([name, der, codes, openssl, rest]: Row): Promise<void> {
  await expectCase({ name, der: der(), root, codes, openssl, ...rest });
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

const MALFORMED: TokenFindingCode[] = ['anchor/malformed'];
const OTHER: TokenFindingCode[] = ['anchor/imprint-mismatch'];
const NOT_GRANTED: TokenFindingCode[] = ['anchor/not-granted'];

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
    ['bytes after it', altered({ infoTail: Buffer.from([0]) }), MALFORMED, true, { says: /1 bytes follow/ }],
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
