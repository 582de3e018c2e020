import type { KeyObject } from 'node:crypto';
import { DerFields, type Element, malformed, TAG } from './der.ts';
import { readOid } from './values.ts';

export type DigestName = 'sha256' | 'sha384' | 'sha512';

/** Accepted digests (RFC 5754 section 2). SHA-1 and MD5 appear below only so that messages can name them. */
const DIGESTS: ReadonlyMap<string, { name: DigestName; bytes: number }> = new Map([
  ['2.16.840.1.101.3.4.2.1', { name: 'sha256', bytes: 32 }],
  ['2.16.840.1.101.3.4.2.2', { name: 'sha384', bytes: 48 }],
  ['2.16.840.1.101.3.4.2.3', { name: 'sha512', bytes: 64 }],
]);

interface SignatureScheme {
  key: 'rsa' | 'ec';
  /** Absent if the digest is specified elsewhere (RFC 3370 section 3.2: rsaEncryption in a SignerInfo). */
  digest?: DigestName;
}

/**
 * Accepted signatures (RFC 5754 section 3); RSA is PKCS #1 v1.5. RSASSA-PSS is left out: `openssl ts -verify` cannot
 * check it either.
 */
const SIGNATURES: ReadonlyMap<string, SignatureScheme> = new Map<string, SignatureScheme>([
  ['1.2.840.113549.1.1.1', { key: 'rsa' }],
  ['1.2.840.113549.1.1.11', { key: 'rsa', digest: 'sha256' }],
  ['1.2.840.113549.1.1.12', { key: 'rsa', digest: 'sha384' }],
  ['1.2.840.113549.1.1.13', { key: 'rsa', digest: 'sha512' }],
  ['1.2.840.10045.4.3.2', { key: 'ec', digest: 'sha256' }],
  ['1.2.840.10045.4.3.3', { key: 'ec', digest: 'sha384' }],
  ['1.2.840.10045.4.3.4', { key: 'ec', digest: 'sha512' }],
]);

const REFUSED: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.2.5', 'MD5'],
  ['1.3.14.3.2.26', 'SHA-1'],
  ['2.16.840.1.101.3.4.2.4', 'SHA-224'],
  ['1.2.840.113549.1.1.4', 'RSA with MD5'],
  ['1.2.840.113549.1.1.5', 'RSA with SHA-1'],
  ['1.2.840.113549.1.1.10', 'RSASSA-PSS'],
  ['1.2.840.113549.1.1.14', 'RSA with SHA-224'],
  ['1.2.840.10045.4.1', 'ECDSA with SHA-1'],
  ['1.2.840.10045.4.3.1', 'ECDSA with SHA-224'],
  ['1.3.101.112', 'Ed25519'],
]);

const MIN_RSA_BITS = 2048;
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

export function digestOf(oid: string): { name: DigestName; bytes: number } | undefined {
  return DIGESTS.get(oid);
}

export function signatureOf(oid: string): SignatureScheme | undefined {
  return SIGNATURES.get(oid);
}

/** Returns the identifier of the SHA-2 algorithm whose digests have this many bytes. */
export function digestOidOfLength(bytes: number): string | undefined {
  return [...DIGESTS].find(([, digest]) => digest.bytes === bytes)?.[0];
}

/** Returns the name of an algorithm for messages. */
export function algorithmName(oid: string): string {
  const signature = SIGNATURES.get(oid);
  const known = DIGESTS.get(oid)?.name ?? REFUSED.get(oid);
  if (known !== undefined) return known;
  return signature === undefined ? oid : [signature.key.toUpperCase(), signature.digest].filter(Boolean).join(' with ');
}

/** Reads an AlgorithmIdentifier whose parameters are absent or NULL, as for all accepted algorithms (RFC 5754). */
export function readAlgorithm(element: Element, what: string): string {
  const { oid, parameters } = readAnyAlgorithm(element, what);
  if (parameters !== undefined && (parameters.tag !== TAG.null || parameters.content.length > 0) && isAccepted(oid))
    throw malformed(`${what} has parameters`);
  return oid;
}

function isAccepted(oid: string): boolean {
  return DIGESTS.has(oid) || SIGNATURES.has(oid);
}

function readAnyAlgorithm(element: Element, what: string): { oid: string; parameters: Element | undefined } {
  const fields = new DerFields(element, what);
  const oid = readOid(fields.take(TAG.oid, 'identifier'), what);
  const parameters = fields.any();
  fields.end();
  return { oid, parameters };
}

/** Returns why a public key is not accepted; null if it is. */
export function keyWeakness(key: KeyObject): string | null {
  const { modulusLength = 0, namedCurve = 'an unnamed curve' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa')
    return modulusLength < MIN_RSA_BITS ? `an RSA key of ${modulusLength} bits` : null;
  if (key.asymmetricKeyType === 'ec') return CURVES.has(namedCurve) ? null : `an EC key on ${namedCurve}`;
  return `a key of type ${key.asymmetricKeyType}`;
}
