import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalize } from '../../core/json/canonical.ts';
import { canonicalHead, type ReportHead } from './head.ts';

const KEY_FORMAT = 'evidence-endpoint-key/1';
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Claim to a key, signed with that key when it is registered. */
interface KeyClaim {
  endpoint_id: string;
  /** Nonce that the service issued for the next report. */
  nonce: string;
  /** Key in the form of `toPublicKeyText`. */
  public_key: string;
}

/** Returns an Ed25519 public key (RFC 8032) as base64 of its 32 bytes. */
export function toPublicKeyText(key: KeyObject): string {
  const { x = '' } = key.export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}

/** @returns base64. */
export function signReport(head: ReportHead, privateKey: KeyObject): string {
  return sign(null, Buffer.from(canonicalHead(head)), privateKey).toString('base64');
}

/** Reports whether the key signed the head; false also for an invalid key or signature. */
export function isReportSigned(head: ReportHead, signature: string, publicKey: string): boolean {
  return isSigned(canonicalHead(head), signature, publicKey);
}

/** Proof of possession: the sensor signs this with the key that it registers. @returns base64. */
export function proveKey(claim: KeyClaim, privateKey: KeyObject): string {
  return sign(null, Buffer.from(textOf(claim)), privateKey).toString('base64');
}

/** Verifies a proof of possession; false also for an invalid key or proof. */
export function isKeyProved(claim: KeyClaim, proof: string): boolean {
  return isSigned(textOf(claim), proof, claim.public_key);
}

function textOf({ endpoint_id, nonce, public_key }: KeyClaim): string {
  return canonicalize({ format: KEY_FORMAT, endpoint_id, nonce, public_key });
}

function isSigned(text: string, signature: string, publicKey: string): boolean {
  const key = exactBytes(publicKey, KEY_BYTES);
  const bytes = exactBytes(signature, SIGNATURE_BYTES);
  if (key === null || bytes === null) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
  return verify(null, Buffer.from(text), createPublicKey({ key: jwk, format: 'jwk' }), bytes);
}

/** Decodes canonical base64 of the given length; null for anything else. */
function exactBytes(base64: string, length: number): Buffer | null {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length === length && bytes.toString('base64') === base64 ? bytes : null;
}
