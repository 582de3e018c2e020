import { sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { z } from 'zod';
import type { PublicKey, SigningKey } from './key.ts';

/** Base64 of RFC 4648 section 4 with padding, in the one way of writing it. */
const base64 = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').toString('base64') === text, { error: 'is not base64' });

export const signatureSchema = z.strictObject({
  /** See `PublicKey.id`. */
  keyid: z.string().regex(/^[0-9a-f]{64}$/),
  sig: base64,
});
export type Signature = z.infer<typeof signatureSchema>;

/** A DSSE envelope (secure-systems-lab/dsse, envelope.md), with the one signature that we put there. */
export const envelopeSchema = z.strictObject({
  payload: base64,
  payloadType: z.string(),
  signatures: z.tuple([signatureSchema]),
});
export type Envelope = z.infer<typeof envelopeSchema>;

/** A payload to be signed, and as what it is meant. */
export interface Signed {
  /** A media type. */
  payloadType: string;
  /** Part of `encoded`, because a payload may have tens of megabytes. */
  payload: Buffer;
  /** The pre-authentication encoding of DSSE (protocol.md): lengths in bytes keep type and payload apart. */
  encoded: Buffer;
}

/**
 * Puts a payload together after its head. Its parts are written in place: buffers of them would be garbage as large.
 * @param bytes of all parts. @throws RangeError if they have another number.
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

/** Ed25519 (RFC 8032), or ECDSA with SHA-256 as DER, whichever the key is for. */
export function sign({ encoded }: Signed, { id, secret }: SigningKey): Signature {
  const sig = signBytes(digestFor(secret.asymmetricKeyType), encoded, secret);
  return { keyid: id, sig: sig.toString('base64') };
}

export function isSignedBy({ encoded }: Signed, { sig }: Signature, { key }: PublicKey): boolean {
  return verifyBytes(digestFor(key.asymmetricKeyType), encoded, key, Buffer.from(sig, 'base64'));
}

/** Ed25519 has a digest of its own. */
function digestFor(type: string | undefined): 'sha256' | null {
  return type === 'ec' ? 'sha256' : null;
}
