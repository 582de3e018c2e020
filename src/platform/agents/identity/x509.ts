import { randomBytes } from 'node:crypto';
import type { CertificateKind } from './kinds.ts';

/** How an authority of each kind signs. RFC 9881 section 2: pure ML-DSA, without parameters. */
export const SIGNING: Record<CertificateKind, { name: string; hash?: string }> = {
  ecdsa: { name: 'ECDSA', hash: 'SHA-256' },
  ml_dsa_65: { name: 'ML-DSA-65' },
};

export type X509 = typeof import('@peculiar/x509');

export async function loadX509(): Promise<X509> {
  // @peculiar/x509 resolves its parts by decorators, which need this to have been loaded.
  await import('reflect-metadata');
  return import('@peculiar/x509');
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
