import type { Generated } from 'kysely';
import type { PassportStatus } from '../words.ts';

/** What each onboarding issued. */
// Over ten members: they are columns.
export interface AgentIdentityTable {
  identity_no: Generated<number>;
  agent_no: number;
  /** Of its agent, from 1 on. */
  issue_no: number;
  did: string;
  /** JSON: by algorithm, as IDENTITY writes them. */
  public_keys: string;
  ecdsa_serial: string;
  ml_dsa_65_serial: string;
  ecdsa_pem: string;
  ml_dsa_65_pem: string;
  not_after: string;
  /** That its passport and certificates state. */
  composition: string;
  passport_jti: string;
  passport_jws: string;
  /** Its place in the status list, from 0 on; never given again. */
  status_index: number;
  passport_status: PassportStatus;
  status_changed_at: string;
  /** The API key that came with it. */
  key_id: string;
  issued_at: string;
}

/** The platform's own keys. */
export interface AgentAuthorityTable {
  /** What it is for: one of each. */
  authority_id: string;
  algorithm: string;
  /** Text of JSON or PEM, as IDENTITY writes it. */
  public_key: string;
  certificate_pem: string | null;
  /** Sealed. */
  private_key: Uint8Array;
  made_at: string;
  not_after: string | null;
}

/** Certificates that are no good any more, or not at the moment. */
export interface AgentRevocationTable {
  revocation_no: Generated<number>;
  authority_id: string;
  serial: string;
  identity_no: number;
  reason: 'certificateHold' | 'cessationOfOperation' | 'superseded';
  revoked_at: string;
  /** When the hold was lifted; null while it stands. */
  lifted_at: string | null;
}
