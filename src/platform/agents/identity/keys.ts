import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import type { SignatureAlgorithm } from '../enums.ts';
import type { AgentKeyName, AgentPublicKeys, PublicJwk } from './identity-rows.ts';

/** Private keys as PKCS #8 in PEM. */
export type AgentPrivateKeys = Readonly<Record<AgentKeyName, string>>;

interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
  publicJwk: PublicJwk;
}

const JWS_ALGORITHMS: Record<AgentKeyName, string> = { ed25519: 'EdDSA', ml_dsa_65: 'ML-DSA-65', ecdsa_p256: 'ES256' };

const generate = promisify(generateKeyPair) as unknown as (
  type: string,
  options?: object,
) => Promise<{ publicKey: KeyObject; privateKey: KeyObject }>;

const MAKE: Record<AgentKeyName, () => ReturnType<typeof generate>> = {
  ed25519: () => generate('ed25519', {}),
  ml_dsa_65: () => generate('ml-dsa-65', {}),
  ecdsa_p256: () => generate('ec', { namedCurve: 'P-256' }),
};

export async function newKeyPair(name: AgentKeyName): Promise<KeyPair> {
  const { privateKey, publicKey } = await MAKE[name]();
  const { kty = '', crv, x, y, pub } = publicKey.export({ format: 'jwk' }) as Partial<Record<string, string>>;
  const alg = JWS_ALGORITHMS[name];
  const jwk = { kty, alg, ...(crv && { crv }), ...(x && { x }), ...(y && { y }), ...(pub && { pub }) };
  return { privateKey, publicKey, publicJwk: { ...jwk, kid: await calculateJwkThumbprint(jwk) } };
}

/** Bytes before the seed of an ML-DSA-65 key in its shortest form, which RFC 9881 section 6 recommends. */
const BEFORE_SEED = Buffer.from('3034020100300b0609608648016503040312' + '04228020', 'hex');

/** Returns the key as PKCS #8 (RFC 5958). */
export function toPkcs8(key: KeyObject): Buffer {
  if (key.asymmetricKeyType !== 'ml-dsa-65') return key.export({ format: 'der', type: 'pkcs8' });
  const { priv = '' } = key.export({ format: 'jwk' }) as { priv?: string };
  return Buffer.concat([BEFORE_SEED, Buffer.from(priv, 'base64url')]);
}

export function toPkcs8Pem(key: KeyObject): string {
  const lines =
    toPkcs8(key)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

export function fromPkcs8(pkcs8: Buffer): KeyObject {
  return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
}

/**
 * Reports whether a message was signed with a key of an agent.
 * @param signature base64url without padding; any other text is not a signature.
 */
export function isSignedByAgent(
  publicKeys: AgentPublicKeys,
  { algorithm, message, signature }: { algorithm: SignatureAlgorithm; message: Uint8Array; signature: string },
): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.toString('base64url') !== signature) return false;
  return verify(null, message, parsed(publicKeys[algorithm === 'EdDSA' ? 'ed25519' : 'ml_dsa_65']), bytes);
}

/** Number of parsed keys that are cached: with a parsed ML-DSA-65 key, verification takes half the time. */
const MOST_PARSED = 2000;
const PARSED = new Map<string, KeyObject>();

/**
 * Returns the parsed key, from a cache of the most recently used ones. The cache is keyed by the key itself, because a
 * `kid` is only a claim.
 */
function parsed({ kid: _, ...jwk }: PublicJwk): KeyObject {
  const name = JSON.stringify(jwk);
  const key = PARSED.get(name) ?? createPublicKey({ key: jwk, format: 'jwk' });
  PARSED.delete(name);
  PARSED.set(name, key);
  const [oldest] = PARSED.size > MOST_PARSED ? PARSED.keys() : [];
  if (oldest !== undefined) PARSED.delete(oldest);
  return key;
}
