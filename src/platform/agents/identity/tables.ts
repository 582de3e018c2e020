import { bytes, digest, integer, oneOf, ordinal, table, text } from '../../database/table.ts';
import type { PassportStatus } from '../words.ts';
import type { CertificateKind, RevocationReason } from './kinds.ts';

export const IDENTITY_TABLES = {
  /** Each generation of the platform's own keys. */
  agent_authorities: table(
    {
      /** From 1 on. */
      generation: integer('PRIMARY KEY'),
      made_at: text(),
      not_after: text(),
      /** The certificates of those that sign certificates. */
      ecdsa_pem: text(),
      ml_dsa_65_pem: text(),
      /** JSON: a list of `PublicJwk`, of those that sign passports, lists and messages. */
      public_keys: text(),
      /** Sealed JSON of PKCS #8 in base64. */
      private_keys: bytes(),
    },
    { appendOnly: [['generation']] },
  ),
  /** What each onboarding issued. */
  agent_identities: table(
    {
      /** Its place in the status list. */
      identity_no: ordinal(),
      agent_no: integer('REFERENCES agents'),
      /** Of its agent, from 1 on. */
      issue_no: integer(),
      /** Of the platform's keys that signed it. */
      generation: integer('REFERENCES agent_authorities'),
      did: text(),
      /** JSON of `AgentPublicKeys`. */
      public_keys: text(),
      ecdsa_serial: text('UNIQUE'),
      ml_dsa_65_serial: text('UNIQUE'),
      ecdsa_pem: text(),
      ml_dsa_65_pem: text(),
      not_after: text(),
      /** That its passport and certificates state. */
      composition: digest(),
      passport_jti: text('UNIQUE'),
      /** JSON of a JWS; empty only within the transaction that issues it. */
      passport_jws: text(),
      passport_status: oneOf<PassportStatus>(['valid', 'suspended', 'revoked', 'superseded']),
      status_changed_at: text(),
      /** The API key that came with it. */
      key_id: text(),
      issued_at: text(),
    },
    { constraints: ['UNIQUE (agent_no, issue_no)'] },
  ),
  /** Certificates that are not to be trusted, for now or for ever. */
  agent_revocations: table(
    {
      kind: oneOf<CertificateKind>(['ecdsa', 'ml_dsa_65']),
      generation: integer('REFERENCES agent_authorities'),
      serial: text(),
      identity_no: integer('REFERENCES agent_identities'),
      reason: oneOf<RevocationReason>(['certificateHold', 'cessationOfOperation', 'superseded']),
      revoked_at: text(),
    },
    { constraints: ['PRIMARY KEY (kind, serial)'], indexes: { agent_revocations_by_list: '(kind, generation)' } },
  ),
};
