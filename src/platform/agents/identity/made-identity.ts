import { X509Certificate } from 'node:crypto';
import type { IdentityAddresses } from './addresses.ts';
import { type IssuedCertificate, issueAgentCertificate } from './certificates.ts';
import type { KeyGeneration } from './key-generation.ts';
import { type AgentKeyName, type AgentPrivateKeys, type AgentPublicKeys, newKeyPair, toPkcs8Pem } from './keys.ts';
import type { CertificateKind } from './kinds.ts';
import { type CertificateClaim, PASSPORT_FORMAT, type PassportClaims } from './passport.ts';
import { CLOCK_SKEW_MS, LEAF_DAYS } from './terms.ts';
import { wholeSecond } from './x509.ts';

/** Whom an identity is for. */
export interface IdentitySubject {
  agent_id: string;
  agent_type: string;
  /** Hex SHA-256. */
  composition: string;
}

/** Keys and certificates of an agent, before it has a passport. */
export interface MadeIdentity {
  notBefore: Date;
  notAfter: Date;
  publicKeys: AgentPublicKeys;
  privateKeys: AgentPrivateKeys;
  certificates: Readonly<Record<CertificateKind, IssuedCertificate>>;
}

/** New keys, and a certificate of each kind. @param generation of the platform's keys, which does not end before them. */
export async function makeIdentity(
  { agent_id, composition }: IdentitySubject,
  generation: KeyGeneration,
  { addresses, now }: { addresses: IdentityAddresses; now: Date },
): Promise<MadeIdentity> {
  const pairs = {
    ed25519: await newKeyPair('ed25519'),
    ml_dsa_65: await newKeyPair('ml_dsa_65'),
    ecdsa_p256: await newKeyPair('ecdsa_p256'),
  };
  const notBefore = wholeSecond(new Date(now.getTime() - CLOCK_SKEW_MS));
  const notAfter = wholeSecond(new Date(now.getTime() + LEAF_DAYS * 86_400_000));
  const certify = (kind: CertificateKind, key: AgentKeyName) => {
    const revocationListUrl = addresses.revocationList({ kind, generation: generation.generation });
    const spiffeId = addresses.spiffeId(agent_id);
    return issueAgentCertificate(
      { publicKey: pairs[key].publicKey, notBefore, notAfter },
      { agentId: agent_id, spiffeId, composition, revocationListUrl },
      generation.certificates[kind],
    );
  };
  const { ed25519, ml_dsa_65, ecdsa_p256 } = pairs;
  return {
    notBefore,
    notAfter,
    publicKeys: {
      ed25519: ed25519.publicJwk,
      ml_dsa_65: ml_dsa_65.publicJwk,
      ecdsa_p256: ecdsa_p256.publicJwk,
    },
    privateKeys: {
      ed25519: toPkcs8Pem(ed25519.privateKey),
      ml_dsa_65: toPkcs8Pem(ml_dsa_65.privateKey),
      ecdsa_p256: toPkcs8Pem(ecdsa_p256.privateKey),
    },
    certificates: { ecdsa: await certify('ecdsa', 'ecdsa_p256'), ml_dsa_65: await certify('ml_dsa_65', 'ml_dsa_65') },
  };
}

/** @param statusIndex its place in the status list. */
export function passportClaims(
  { agent_id, agent_type, composition }: IdentitySubject,
  { notBefore, notAfter, publicKeys, certificates }: MadeIdentity,
  { addresses, now, jti, statusIndex }: { addresses: IdentityAddresses; now: Date; jti: string; statusIndex: number },
): PassportClaims {
  const { ed25519, ml_dsa_65 } = publicKeys;
  return {
    format: PASSPORT_FORMAT,
    iss: addresses.base,
    sub: addresses.did(agent_id),
    jti,
    iat: seconds(now),
    nbf: seconds(notBefore),
    exp: seconds(notAfter),
    agent_id,
    agent_type,
    spiffe_id: addresses.spiffeId(agent_id),
    composition_sha256: composition,
    cnf: { jkt: ed25519.kid },
    agent_keys: { ed25519: ed25519.kid, ml_dsa_65: ml_dsa_65.kid },
    certificates: { ecdsa: certificateClaim(certificates.ecdsa), ml_dsa_65: certificateClaim(certificates.ml_dsa_65) },
    status: { status_list: { idx: statusIndex, uri: addresses.ofPlatform('status-list') } },
    status_url: addresses.verification(agent_id),
  };
}

const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

function certificateClaim({ pem, serial }: IssuedCertificate): CertificateClaim {
  const fingerprint = new X509Certificate(pem).fingerprint256.replaceAll(':', '');
  return { serial, 'x5t#S256': Buffer.from(fingerprint, 'hex').toString('base64url') };
}
