import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IssuingPlace } from './issuing-place.ts';
import { askPython, ML_DSA_JUDGES, pythonKnowsMlDsa, takenApart, toDer } from './ml-dsa-judges.ts';

/** NIST's id-ml-dsa-65. */
const ML_DSA_65 = '2.16.840.1.101.3.4.3.18';

let place: IssuingPlace;
let authority: string;
let leaf: string;
let privateKeys: { [name: string]: string };
let list: Uint8Array;

beforeAll(async () => {
  place = await IssuingPlace.open();
  const before = await place.issued();
  const { certificate, quantum_identity } = await place.issue(before.agent);
  authority = await place.issuer.published.certificates('ml_dsa_65');
  leaf = certificate.pq.pem;
  privateKeys = quantum_identity.private_keys_once;
  list = await place.issuer.published.revocationList('ml-dsa-65');
});

afterAll(() => place.close());

/** Flips one bit of the signed bytes. */
function altered(der: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(der);
  // Offset within the serial number and names at the beginning.
  copy[40] = (copy[40] ?? 0) ^ 1;
  return copy;
}

test.each(ML_DSA_JUDGES)(
  '$name finds certificate, authority and list signed, and nothing that was altered',
  async (judge) => {
    for (const der of [toDer(leaf), toDer(authority), list]) {
      expect(await judge.isSigned(der, authority)).toBe(true);
      expect(await judge.isSigned(altered(der), authority)).toBe(false);
    }
  },
);

const hasPython = await pythonKnowsMlDsa();

test(`Python's cryptography finds the same${hasPython ? '' : ' (not asked: it is not there, or knows no ML-DSA)'}`, async () => {
  if (!hasPython) return void (await expect(askPython(authority, [['certificate', toDer(leaf)]])).rejects.toThrow());
  const rows = [
    ['certificate', toDer(leaf)],
    ['certificate', toDer(authority)],
    ['list', list],
  ] as const;
  expect(await askPython(authority, rows)).toEqual(['signed', 'signed', 'signed']);
  const wrong = [
    ['certificate', altered(toDer(leaf))],
    ['list', altered(list)],
  ] as const;
  expect(await askPython(authority, wrong)).toEqual(['not signed', 'not signed']);
});

test('Node builds the chain', () => {
  const [agent, issuer] = [new X509Certificate(leaf), new X509Certificate(authority)];
  expect(agent.checkIssued(issuer)).toBe(true);
  expect(agent.verify(issuer.publicKey)).toBe(true);
  expect(issuer.verify(issuer.publicKey)).toBe(true);
  expect(agent.ca).toBe(false);
  expect(issuer.ca).toBe(true);
});

test('the algorithm is id-ml-dsa-65 without parameters, wherever it stands', () => {
  for (const der of [toDer(leaf), toDer(authority), list])
    expect(takenApart(der)).toMatchObject({ algorithm: ML_DSA_65, hasParameters: false });
});

test('another library signs with the private key that the agent was given', () => {
  const key = createPrivateKey(privateKeys['ml_dsa_65'] ?? '');
  const seed = Buffer.from(key.export({ format: 'jwk' })['priv'] as string, 'base64url');
  expect(seed).toHaveLength(32);
  const { publicKey } = ml_dsa65.keygen(seed);
  const certified = new X509Certificate(leaf).publicKey.export({ format: 'der', type: 'spki' });
  expect(Buffer.from(publicKey)).toEqual(certified.subarray(-1952));
  expect(createPublicKey(key).equals(new X509Certificate(leaf).publicKey)).toBe(true);
});
