import type { Json } from '../../../core/json/canonical.ts';
import { SIGNATURE_ALGORITHMS } from './kinds.ts';
import { base64Json, type PlatformSigner, signJws } from './signatures.ts';

export const PASSPORT_FORMAT = 'evidence-agent-passport/1';
export const PASSPORT_TYPE = 'agent-passport+json';
/**
 * In the protected header of each signature, and critical (RFC 7515 section 4.1.11): the algorithms by all of which the
 * passport must be signed. Whoever does not know this parameter has to refuse the passport.
 */
export const REQUIRED_ALGORITHMS = 'required_algs';

/** RFC 7515 section 7.2.1. */
export interface GeneralJws {
  payload: string;
  signatures: { protected: string; signature: string }[];
}

/** The claims of a passport. */
// Over ten members: they are claims.
export interface PassportClaims {
  format: typeof PASSPORT_FORMAT;
  /** The address of the service. */
  iss: string;
  /** The DID of the agent. */
  sub: string;
  jti: string;
  /** Seconds since 1970. */
  iat: number;
  nbf: number;
  exp: number;
  agent_id: string;
  agent_type: string;
  spiffe_id: string;
  /** Hex. */
  composition_sha256: string;
  /** RFC 7800: whoever holds it has the private key of this RFC 7638 thumbprint, the agent's Ed25519 key. */
  cnf: { jkt: string };
  /** Thumbprints of the agent's keys. */
  agent_keys: { ed25519: string; ml_dsa_65: string };
  certificates: { ecdsa: CertificateClaim; ml_dsa_65: CertificateClaim };
  /** Token Status List. */
  status: { status_list: { idx: number; uri: string } };
  /** The address at which anybody asks for the agent's current state. */
  status_url: string;
}

export interface CertificateClaim {
  /** Hex. */
  serial: string;
  /** RFC 8705: base64url SHA-256 of the certificate in DER. */
  'x5t#S256': string;
}

/** Signs by all algorithms. @param signers one for each. */
export function signPassport(claims: PassportClaims, signers: readonly PlatformSigner[]): GeneralJws {
  const payload = base64Json({ ...claims } as unknown as { [name: string]: Json });
  const required = { crit: [REQUIRED_ALGORITHMS], [REQUIRED_ALGORITHMS]: [...SIGNATURE_ALGORITHMS] };
  return {
    payload,
    signatures: signers.map((signer) => signJws(payload, { typ: PASSPORT_TYPE, ...required }, signer)),
  };
}
