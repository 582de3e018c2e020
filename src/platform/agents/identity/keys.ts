import { createPublicKey, verify, webcrypto } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import type { SignatureAlgorithm } from './kinds.ts';

const { subtle } = webcrypto;

/** Names of WebCrypto. */
export const KEY_ALGORITHMS = {
  ed25519: { name: 'Ed25519' },
  ml_dsa_65: { name: 'ML-DSA-65' },
  ecdsa_p256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
} as const;
export type AgentKeyName = keyof typeof KEY_ALGORITHMS;

/** RFC 8037, RFC 9964 section 3 and RFC 7518: a public key, and its `kid`, which is its RFC 7638 thumbprint. */
export type PublicJwk = { kty: string; kid: string; alg: string; crv?: string; x?: string; y?: string; pub?: string };
export type AgentPublicKeys = Readonly<Record<AgentKeyName, PublicJwk>>;
/** PKCS #8 in PEM. */
export type AgentPrivateKeys = Readonly<Record<AgentKeyName, string>>;

export interface KeyPair {
  keys: webcrypto.CryptoKeyPair;
  publicJwk: PublicJwk;
}

const JWS_ALGORITHMS: Record<AgentKeyName, string> = { ed25519: 'EdDSA', ml_dsa_65: 'ML-DSA-65', ecdsa_p256: 'ES256' };

export async function newKeyPair(name: AgentKeyName): Promise<KeyPair> {
  const made = await subtle.generateKey(KEY_ALGORITHMS[name], true, ['sign', 'verify']);
  const keys = made as webcrypto.CryptoKeyPair;
  return { keys, publicJwk: await toPublicJwk(name, keys.publicKey) };
}

async function toPublicJwk(name: AgentKeyName, key: webcrypto.CryptoKey): Promise<PublicJwk> {
  const { kty, crv, x, y, pub } = (await subtle.exportKey('jwk', key)) as Record<string, string | undefined>;
  const alg = JWS_ALGORITHMS[name];
  const jwk = { kty: kty ?? '', alg, ...(crv && { crv }), ...(x && { x }), ...(y && { y }), ...(pub && { pub }) };
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) } as PublicJwk;
}

/** RFC 5958. */
export async function toPkcs8(key: webcrypto.CryptoKey): Promise<Buffer> {
  return Buffer.from(await subtle.exportKey('pkcs8', key));
}

export async function toPkcs8Pem(key: webcrypto.CryptoKey): Promise<string> {
  const lines = (await toPkcs8(key)).toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

export async function fromPkcs8(name: AgentKeyName, pkcs8: Uint8Array): Promise<webcrypto.CryptoKey> {
  return subtle.importKey('pkcs8', pkcs8, KEY_ALGORITHMS[name], false, ['sign']);
}

/**
 * Whether a message was signed with a key of an agent.
 * @param signature base64url without padding; anything else is no signature.
 */
export function isSignedByAgent(
  publicKeys: AgentPublicKeys,
  { algorithm, message, signature }: { algorithm: SignatureAlgorithm; message: Uint8Array; signature: string },
): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.toString('base64url') !== signature) return false;
  const jwk = publicKeys[algorithm === 'EdDSA' ? 'ed25519' : 'ml_dsa_65'];
  return verify(null, message, createPublicKey({ key: { ...jwk }, format: 'jwk' }), bytes);
}
