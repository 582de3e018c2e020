import { column, table } from '../../database/table.ts';
import type { PassportStatus } from '../enums.ts';
import type { CertificateKind, RevocationReason } from './kinds.ts';

export const IDENTITY_TABLES = {
  /** Each generation of the platform's own keys. */
  agent_authorities: table(
    {
      /** From 1 on. */
      generation: column.integer('PRIMARY KEY'),
      made_at: column.text(),
      not_after: column.text(),
      /** The certificates of those that sign certificates. */
      ecdsa_pem: column.text(),
      ml_dsa_65_pem: column.text(),
      /** JSON: a list of `PublicJwk`, of those that sign passports, lists and messages. */
      public_keys: column.text(),
      /** Sealed JSON of PKCS #8 in base64. */
      private_keys: column.bytes(),
    },
    { appendOnly: [['generation']] },
  ),
  /** Identities that onboardings issued. */
  agent_identities: table(
    {
      /** Its place in the status list. */
      identity_no: column.ordinal(),
      agent_no: column.integer('REFERENCES agents'),
      /** Its number among those of its agent, from 1 on. */
      issue_no: column.integer(),
      /** The generation of the platform's keys that signed it. */
      generation: column.integer('REFERENCES agent_authorities'),
      did: column.text(),
      /** JSON of `AgentPublicKeys`. */
      public_keys: column.text(),
      ecdsa_serial: column.text('UNIQUE'),
      ml_dsa_65_serial: column.text('UNIQUE'),
      ecdsa_pem: column.text(),
      ml_dsa_65_pem: column.text(),
      not_after: column.text(),
      /** The composition that its passport and certificates state. */
      composition: column.digest(),
      passport_jti: column.text('UNIQUE'),
      /** JSON of a JWS; empty only within the transaction that issues it. */
      passport_jws: column.text(),
      passport_status: column.oneOf<PassportStatus>(['valid', 'suspended', 'revoked', 'superseded']),
      status_changed_at: column.text(),
      /** The API key that came with it. */
      key_id: column.text(),
      issued_at: column.text(),
    },
    { constraints: ['UNIQUE (agent_no, issue_no)'] },
  ),
  /** Certificates that are not to be trusted, for now or for ever. */
  agent_revocations: table(
    {
      kind: column.oneOf<CertificateKind>(['ecdsa', 'ml_dsa_65']),
      generation: column.integer('REFERENCES agent_authorities'),
      serial: column.text(),
      identity_no: column.integer('REFERENCES agent_identities'),
      reason: column.oneOf<RevocationReason>(['certificateHold', 'cessationOfOperation', 'superseded']),
      revoked_at: column.text(),
    },
    { constraints: ['PRIMARY KEY (kind, serial)'], indexes: { agent_revocations_by_list: '(kind, generation)' } },
  ),
};
