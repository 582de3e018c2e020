import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;
/** Length of the secret, equal to that of the hash (RFC 4226 section 4). */
const SECRET_BYTES = 20;
/** Number of accepted steps before and after the current one, because clocks differ and typing takes time. */
const TOLERANCE = 1;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Returns the code of a step (RFC 6238, with SHA-1, which all authenticators support). */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', secret).update(counter).digest();
  const offset = (hash.at(-1) ?? 0) & 0xf;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/**
 * Returns the step of a code, or null. Each code is accepted once.
 * @param after step of the last accepted code.
 */
export function totpStep(secret: Uint8Array, code: string, now: Date, after: number): number | null {
  const present = Math.floor(now.getTime() / STEP_MS);
  const given = Buffer.from(code);
  for (let step = present - TOLERANCE; step <= present + TOLERANCE; step++) {
    const expected = Buffer.from(totpCode(secret, step));
    if (step > after && given.length === expected.length && timingSafeEqual(given, expected)) return step;
  }
  return null;
}

/** Returns the link for authenticators, which is also shown as a QR code. */
export function totpLink(secret: Uint8Array, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const query = new URLSearchParams({ secret: base32(secret), issuer, algorithm: 'SHA1', digits: '6', period: '30' });
  return `otpauth://totp/${label}?${query}`;
}

/** Encodes bytes by RFC 4648 section 6, without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >>> (bits - 5)) & 31];
    held &= 0xff;
  }
  return bits > 0 ? text + BASE32[(held << (5 - bits)) & 31] : text;
}
