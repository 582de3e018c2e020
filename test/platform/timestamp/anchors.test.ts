import { beforeAll, expect, test } from 'vitest';
import { readRoots } from '../../../src/core/timestamp/roots.ts';
import { type Trust, verifyAnswer } from '../../../src/platform/timestamp/exchange.ts';
import { integer } from '../../support/der.ts';
import { ca, type Forgery, forge, type Issued, issue, OID, purposes, statusInfo } from '../../support/tsa-forge.ts';

const NONCE = 0x1234;
const NOW = new Date('2026-03-01T12:00:10Z');

let root: Issued;
let other: Issued;
let signer: Issued;
let emailer: Issued;

beforeAll(async () => {
  root = await issue({ subject: 'CN=Root', extensions: [ca()] });
  other = await issue({ subject: 'CN=Other root', extensions: [ca()] });
  signer = await authorityFor(OID.timeStamping);
  emailer = await authorityFor('1.3.6.1.5.5.7.3.4');
});

function authorityFor(purpose: string): Promise<Issued> {
  return issue({ subject: 'CN=Authority', issuer: root, extensions: [purposes(true, purpose)] });
}

const imprint = Buffer.alloc(32, 0xab);

/** Returns what the platform says of an answer to its request. */
function judge(by: Issued, changes: Partial<Forgery> = {}, trust: Partial<Trust> = {}): string {
  const usual: Partial<Forgery> = { imprint, status: statusInfo(0), info: (fields) => [...fields, integer(NONCE)] };
  const nonce = Buffer.alloc(2);
  nonce.writeUInt16BE(NONCE);
  try {
    const der = forge(by, { ...usual, ...changes });
    return verifyAnswer('TSA', der, { imprint, nonce }, { roots: [], clock: () => NOW, ...trust }).toISOString();
  } catch (error) {
    return String(error);
  }
}

const at = (time: string): Partial<Trust> => ({ clock: () => new Date(time) });
const rootsOf = ({ pem }: Issued): Partial<Trust> => ({ roots: readRoots(pem, 'roots') });

test('an honest answer is an anchor, with and without the root that the operator pins', () => {
  expect(judge(signer)).toBe('2026-03-01T12:00:00.000Z');
  expect(judge(signer, { certificates: [signer.der, root.der] }, rootsOf(root))).toBe('2026-03-01T12:00:00.000Z');
});

test.each<[what: string, message: RegExp, answer: () => string]>([
  ['the signature is by another key', /signature/, () => judge(signer, { signedWith: other.key })],
  ['something follows its content', /no RFC 3161 token/, () => judge(signer, { infoTail: Buffer.from([5, 0]) })],
  ['the certificate is for e-mail', /not for time stamping/, () => judge(emailer)],
  ['it carries no certificate', /carries no certificate/, () => judge(signer, { certificates: [] })],
  [
    'it carries the certificate of another',
    /carries no certificate/,
    () => judge(signer, { certificates: [root.der] }),
  ],
  ['it has no nonce', /nonce/, () => judge(signer, { info: (fields) => fields })],
  ['it is over another digest', /another digest/, () => judge(signer, { imprint: Buffer.alloc(32, 1) })],
  ['it is not granted', /did not grant/, () => judge(signer, { status: statusInfo(2) })],
  ['it is years ahead of our clock', /had not come yet/, () => judge(signer, {}, at('2024-03-01T12:00:00Z'))],
  ['it is minutes ahead of our clock', /had not come yet/, () => judge(signer, {}, at('2026-03-01T11:54:59Z'))],
  ['it is minutes behind our clock', /the clock here says/, () => judge(signer, {}, at('2026-03-01T12:05:01Z'))],
  ['it leads to another root', /root/, () => judge(signer, {}, rootsOf(other))],
  ['it leads to no root', /root/, () => judge(other, {}, rootsOf(root))],
])('no anchor if %s', (_what, message, answer) => {
  const said = answer();
  expect(said).toMatch(/is no anchor/);
  expect(said).toMatch(message);
});

test("a clock that differs by less than five minutes is none of the authority's faults", () => {
  expect(judge(signer, {}, at('2026-03-01T11:55:01Z'))).toBe('2026-03-01T12:00:00.000Z');
  expect(judge(signer, {}, at('2026-03-01T12:04:59Z'))).toBe('2026-03-01T12:00:00.000Z');
});
