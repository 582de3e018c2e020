import { createHmac, hash, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** SCRAM-SHA-256: RFC 5802, RFC 7677. */
export const SCRAM_ITERATIONS = 4096;

const derive = promisify(pbkdf2);

/** The keys that each side derives from a password: RFC 5802 section 3. */
export interface ScramKeys {
  clientKey: Buffer;
  storedKey: Buffer;
  serverKey: Buffer;
}

export async function scramKeys(password: string, salt: Uint8Array, iterations: number): Promise<ScramKeys> {
  const salted = await derive(password, salt, iterations, 32, 'sha256');
  const clientKey = hmac(salted, 'Client Key');
  return { clientKey, storedKey: hash('sha256', clientKey, 'buffer'), serverKey: hmac(salted, 'Server Key') };
}

/** As long as PostgreSQL's own. */
export function scramNonce(): string {
  return randomBytes(18).toString('base64');
}

/** The salt of a name: always the same one, whether or not there is somebody of that name. */
export function saltOf(key: Uint8Array, user: string): Buffer {
  return hmac(key, user).subarray(0, 16);
}

/** @param message the whole exchange, as RFC 5802 calls it AuthMessage. */
export function isProof({ storedKey }: ScramKeys, message: string, proof: Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', xor(proof, hmac(storedKey, message)), 'buffer'), storedKey);
}

export function proofOf({ clientKey, storedKey }: ScramKeys, message: string): string {
  return xor(clientKey, hmac(storedKey, message)).toString('base64');
}

export function serverSignature({ serverKey }: ScramKeys, message: string): string {
  return hmac(serverKey, message).toString('base64');
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function xor(one: Uint8Array, other: Uint8Array): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));
}
