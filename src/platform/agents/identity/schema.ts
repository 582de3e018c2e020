import type { Generated } from 'kysely';
import type { CertificateChain, PassportStatus, RevocationReason } from '../words.ts';

/** What each onboarding issued. */
// Over ten members: they are columns.
export interface AgentIdentityTable {
  /** Its place in the status list; never given again. */
  identity_no: Generated<number>;
  agent_no: number;
  /** Of its agent, from 1 on. */
  issue_no: number;
  /** Of the authorities that signed its certificates. */
  generation: number;
  did: string;
  /** JSON of a JWK for each name of an algorithm. */
  public_keys: string;
  ecdsa_serial: string;
  ml_dsa_65_serial: string;
  ecdsa_pem: string;
  ml_dsa_65_pem: string;
  not_before: string;
  not_after: string;
  /** That its passport and certificates state. */
  composition: string;
  passport_jti: string;
  /** A General JWS, as JSON. */
  passport_jws: string;
  passport_status: PassportStatus;
  status_changed_at: string;
  /** The API key that came with it. */
  key_id: string;
  issued_at: string;
}

/** The platform's own keys, and the certificates of its two authorities; never changed. */
export interface AgentAuthorityTable {
  generation: number;
  made_at: string;
  not_after: string;
  ecdsa_pem: string;
  ml_dsa_65_pem: string;
  /** JSON. */
  public_keys: string;
  /** Sealed. */
  private_keys: Uint8Array;
}

/** Certificates that are no good any more, or not at the moment. */
export interface AgentRevocationTable {
  revocation_no: Generated<number>;
  agent_no: number;
  identity_no: number;
  kind: CertificateChain;
  generation: number;
  serial: string;
  reason: RevocationReason;
  revoked_at: string;
  /** When a hold was lifted, or became more than a hold; null while it stands. */
  lifted_at: string | null;
}
