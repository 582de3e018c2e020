import type { Generated } from 'kysely';
import type { PassportStatus } from '../words.ts';
import type { CertificateKind, RevocationReason } from './kinds.ts';

/** What each onboarding issued. */
// Over ten members: they are columns.
export interface AgentIdentityTable {
  /** Its place in the status list. */
  identity_no: Generated<number>;
  agent_no: number;
  /** Of its agent, from 1 on. */
  issue_no: number;
  /** Of the platform's keys that signed it. */
  generation: number;
  did: string;
  /** JSON of `AgentPublicKeys`. */
  public_keys: string;
  ecdsa_serial: string;
  ml_dsa_65_serial: string;
  ecdsa_pem: string;
  ml_dsa_65_pem: string;
  not_after: string;
  /** That its passport and certificates state. */
  composition: string;
  passport_jti: string;
  /** JSON of a JWS; empty only within the transaction that issues it. */
  passport_jws: string;
  passport_status: PassportStatus;
  status_changed_at: string;
  /** The API key that came with it. */
  key_id: string;
  issued_at: string;
}

/** Each generation of the platform's own keys. */
export interface AgentAuthorityTable {
  /** From 1 on. */
  generation: number;
  made_at: string;
  not_after: string;
  /** The certificates of those that sign certificates. */
  ecdsa_pem: string;
  ml_dsa_65_pem: string;
  /** JSON: a list of `PublicJwk`, of those that sign passports, lists and messages. */
  public_keys: string;
  /** Sealed JSON of PKCS #8 in base64. */
  private_keys: Uint8Array;
}

/** Certificates that are not to be trusted, for now or for ever. */
export interface AgentRevocationTable {
  kind: CertificateKind;
  generation: number;
  serial: string;
  identity_no: number;
  reason: RevocationReason;
  revoked_at: string;
}
