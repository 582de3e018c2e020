import { beforeAll, describe, expect, test } from 'vitest';
import { MAX_TOKEN_BYTES } from '../../../src/core/timestamp/token.ts';
import type { TokenFindingCode } from '../../../src/core/timestamp/token-finding.ts';
import { integer, octets, sequence, set, time, tlv, utf8 } from '../../support/der.ts';
import { type ForgedCase, forgedCases, judgeForged } from '../../support/tsa-case.ts';
import { ca, forge, type Issued, issue, OID, purposes, statusInfo } from '../../support/tsa-forge.ts';

const expectCase = forgedCases();
let root: Issued;
let signer: Issued;

beforeAll(async () => {
  root = await issue({ subject: 'CN=Root', extensions: [ca()] });
  const extensions = [purposes(true, OID.timeStamping)];
  signer = await issue({ subject: 'O=Test,CN=Authority', issuer: root, extensions });
});

type Row = [name: string, der: () => Buffer, codes: TokenFindingCode[], openssl: boolean, rest?: Partial<ForgedCase>];

async function expectRow([name, der, codes, openssl, rest]: Row): Promise<void> {
  await expectCase({ name, der: der(), root, codes, openssl, ...rest });
}

const MALFORMED: TokenFindingCode[] = ['anchor/malformed'];

describe('bytes', () => {
  const good = () => forge(signer);
  const nested = (depth: number) => {
    let inner = sequence();
    for (let level = 1; level < depth; level++) inner = sequence(inner);
    return inner;
  };
  /** Returns the token with another encoding of its outermost length. */
  const relength = (octetsOfLength: (length: number) => number[]) => () => {
    const content = good().subarray(4);
    return Buffer.concat([Buffer.from([0x30, ...octetsOfLength(content.length)]), content]);
  };

  test.each<Row>([
    ['none', () => Buffer.alloc(0), MALFORMED, false],
    ['text', () => Buffer.from('-----BEGIN PKCS7-----\n'), MALFORMED, false],
    [
      'one more after the end',
      () => Buffer.concat([good(), Buffer.from([0])]),
      MALFORMED,
      true,
      { says: /1 bytes follow/ },
    ],
    ['a second token after the end', () => Buffer.concat([good(), good()]), MALFORMED, true],
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
      'a response that goes on after its token',
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
    // Exception: the case of "Root" in the issuer name by which the signer's certificate is found. The name is not
    // signed, and names compare equal regardless of case (RFC 5280 section 7.1).
    const letters = whole.lastIndexOf('Root');
    expect(accepted).toEqual([0, 1, 2, 3].map((letter) => letters + letter));
  });
});
