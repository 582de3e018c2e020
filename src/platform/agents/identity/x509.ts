import { type KeyObject, randomBytes, sign, type webcrypto } from 'node:crypto';
import type { CertificateKind } from './kinds.ts';

type X509 = typeof import('@peculiar/x509');

export async function loadX509(): Promise<X509> {
  // @peculiar/x509 resolves its parts by decorators, which need this to have been loaded.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** RFC 9881 section 2: pure ML-DSA, without parameters. */
const SIGNING: Record<CertificateKind, { name: string; hash?: string }> = {
  ecdsa: { name: 'ECDSA', hash: 'SHA-256' },
  ml_dsa_65: { name: 'ML-DSA-65' },
};

/**
 * A signer for @peculiar/x509. ML-DSA of WebCrypto is an experiment of Node, which says so between the lines of the
 * log, so signatures are made with the keys of node:crypto, in the form that WebCrypto gives them.
 */
export function signingWith(kind: CertificateKind, key: KeyObject) {
  const signingAlgorithm = SIGNING[kind];
  const hash = signingAlgorithm.hash ?? null;
  const subtle = {
    sign: async (_algorithm: unknown, _key: unknown, data: ArrayBuffer) =>
      sign(hash, Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }),
  };
  return {
    signing: { signingAlgorithm, signingKey: { algorithm: signingAlgorithm } as webcrypto.CryptoKey },
    crypto: { subtle } as unknown as webcrypto.Crypto,
  };
}

/** In the form that certificates have it. */
export function toSpki(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: 'der', type: 'spki' });
}

/** RFC 5280 section 4.1.2.2: positive, and of 20 octets at most. 40 hex digits, which nobody can foresee. */
export function newSerial(): string {
  const serial = randomBytes(20);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial.toString('hex');
}

/** Certificates have no fractions of a second. */
export function wholeSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}
