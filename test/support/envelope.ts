import { type Envelope, type Signed, sign, toSigned } from '../../src/verifier/signature/envelope.ts';
import type { SigningKey } from '../../src/verifier/signature/key.ts';

export function signedOf(payloadType: string, payload: Uint8Array): Signed {
  return toSigned(payloadType, payload.length, [Buffer.from(payload).toString('base64')], 'base64');
}

export function toEnvelope(signed: Signed, key: SigningKey): Envelope {
  const { payload, payloadType } = signed;
  return { payload: payload.toString('base64'), payloadType, signatures: [sign(signed, key)] };
}

/** Returns the payload of an envelope as its signature should cover it. */
export function signedIn({ payload, payloadType }: Envelope): Signed {
  return signedOf(payloadType, Buffer.from(payload, 'base64'));
}
