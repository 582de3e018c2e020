import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Returns an unguessable token for a link or a cookie. Only its digest is stored. */
export function newToken(): { text: string; sha256: string } {
  const text = randomBytes(32).toString('base64url');
  return { text, sha256: tokenDigest(text) };
}

export function tokenDigest(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Seals secrets that the platform has to read again, with a key that is not in the database. */
export class SecretBox {
  readonly #key: Buffer;

  /**
   * @param masterKey of the data folder.
   * @param purpose determines the derived key.
   */
  constructor(masterKey: Uint8Array, purpose: `${string}/${string}`) {
    this.#key = Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(32), purpose, 32));
  }

  /** @param owner of the secret, for which alone it opens. */
  seal(secret: Uint8Array, owner: string): Buffer {
    return sealWith(this.#key, secret, owner);
  }

  /** @throws Error if `seal` did not make this for the owner. */
  open(sealed: Uint8Array, owner: string): Buffer {
    return openWith(this.#key, sealed, owner);
  }
}

/**
 * Encrypts with AES-256-GCM, with a random IV and the owner as associated data.
 * @param key 32 bytes.
 * @param owner of the secret, for which alone it opens.
 */
export function sealWith(key: Uint8Array, secret: Uint8Array, owner: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** @throws Error if `sealWith` did not make this with this key for the owner. */
export function openWith(key: Uint8Array, sealed: Uint8Array, owner: string): Buffer {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(owner))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
}
