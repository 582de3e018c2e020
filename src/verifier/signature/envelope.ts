import { sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { z } from 'zod';
import type { PublicKey, SigningKey } from './key.ts';

/** Base64 (RFC 4648 section 4) with padding, in its canonical form. */
const base64 = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').toString('base64') === text, { error: 'is not base64' });

export const signatureSchema = z.strictObject({
  /** See `PublicKey.id`. */
  keyid: z.string().regex(/^[0-9a-f]{64}$/),
  sig: base64,
});
export type Signature = z.infer<typeof signatureSchema>;

/** DSSE envelope (secure-systems-lab/dsse, envelope.md) with our single signature. */
export const envelopeSchema = z.strictObject({
  payload: base64,
  payloadType: z.string(),
  signatures: z.tuple([signatureSchema]),
});
export type Envelope = z.infer<typeof envelopeSchema>;

/** Payload to sign, and its type. */
export interface Signed {
  /** Media type. */
  payloadType: string;
  /** View into `encoded`, because a payload may have tens of megabytes. */
  payload: Buffer;
  /** Pre-authentication encoding of DSSE (protocol.md): lengths in bytes separate type and payload. */
  encoded: Buffer;
}

/**
 * Assembles a payload after its head. The parts are written in place, because buffers for them would be garbage of the
 * same size.
 * @param bytes total length of the parts. @throws RangeError if they have another length.
 */
export function toSigned(
  payloadType: string,
  bytes: number,
  parts: Iterable<string>,
  encoding: 'utf8' | 'base64',
): Signed {
  const head = Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${bytes} `);
  const encoded = Buffer.allocUnsafeSlow(head.length + bytes);
  head.copy(encoded);
  let [at, given] = [head.length, 0];
  for (const part of parts) {
    at += encoded.write(part, at, encoding);
    given += Buffer.byteLength(part, encoding);
  }
  if (given !== bytes) throw new RangeError(`a payload has ${given} bytes, not ${bytes}`);
  return { payloadType, payload: encoded.subarray(head.length), encoded };
}

/** Signs with Ed25519 (RFC 8032), or with ECDSA and SHA-256 in DER, depending on the key. */
export function sign({ encoded }: Signed, { id, secret }: SigningKey): Signature {
  const sig = signBytes(digestFor(secret.asymmetricKeyType), encoded, secret);
  return { keyid: id, sig: sig.toString('base64') };
}

export function isSignedBy({ encoded }: Signed, { sig }: Signature, { key }: PublicKey): boolean {
  return verifyBytes(digestFor(key.asymmetricKeyType), encoded, key, Buffer.from(sig, 'base64'));
}

/** Returns null for Ed25519, which has a built-in digest. */
function digestFor(type: string | undefined): 'sha256' | null {
  return type === 'ec' ? 'sha256' : null;
}
