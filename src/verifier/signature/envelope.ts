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

/** What is signed: the payload, and as what it is meant. */
export interface Signed {
  /** A media type. */
  payloadType: string;
  payload: Uint8Array;
}

/** The pre-authentication encoding of DSSE (protocol.md): lengths in bytes keep type and payload apart. */
export function preAuthenticationEncoding({ payloadType, payload }: Signed): Uint8Array {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Ed25519 (RFC 8032), or ECDSA with SHA-256 as DER, whichever the key is for. */
export function sign(signed: Signed, { id, secret }: SigningKey): Signature {
  const sig = signBytes(digestFor(secret.asymmetricKeyType), preAuthenticationEncoding(signed), secret);
  return { keyid: id, sig: sig.toString('base64') };
}

export function isSignedBy(signed: Signed, { sig }: Signature, { key }: PublicKey): boolean {
  const bytes = Buffer.from(sig, 'base64');
  return verifyBytes(digestFor(key.asymmetricKeyType), preAuthenticationEncoding(signed), key, bytes);
}

export function toEnvelope(signed: Signed, key: SigningKey): Envelope {
  const payload = Buffer.from(signed.payload).toString('base64');
  return { payload, payloadType: signed.payloadType, signatures: [sign(signed, key)] };
}

export function openEnvelope({ payload, payloadType, signatures }: Envelope): Signed & { signature: Signature } {
  return { payloadType, payload: Buffer.from(payload, 'base64'), signature: signatures[0] };
}

/** Ed25519 has a digest of its own. */
function digestFor(type: string | undefined): 'sha256' | null {
  return type === 'ec' ? 'sha256' : null;
}
