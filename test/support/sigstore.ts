import { createPublicKey } from 'node:crypto';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';

interface Dsse {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

/** True if sigstore's DSSE reader verifies the envelope with this key. */
export function sigstoreVerifies(envelope: Dsse, publicKeyPem: string): boolean {
  const entity = toSignedEntity({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    content: {
      $case: 'dsseEnvelope',
      dsseEnvelope: {
        payload: Buffer.from(envelope.payload, 'base64'),
        payloadType: envelope.payloadType,
        signatures: envelope.signatures.map(({ keyid, sig }) => ({ keyid, sig: Buffer.from(sig, 'base64') })),
      },
    },
    verificationMaterial: {
      content: { $case: 'publicKey', publicKey: { hint: 'ours' } },
      tlogEntries: [],
      timestampVerificationData: undefined,
    },
  });
  const trust = toTrustMaterial(
    { mediaType: '', tlogs: [], certificateAuthorities: [], ctlogs: [], timestampAuthorities: [] },
    () => ({ publicKey: createPublicKey(publicKeyPem), validFor: () => true }),
  );
  const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
  try {
    verifier.verify(entity);
    return true;
  } catch {
    return false;
  }
}
