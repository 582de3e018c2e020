import type { Migrations } from '../../database/migration.ts';

export const IDENTITY_MIGRATIONS: Migrations = {
  // Over 40 lines: it is the form of tables.
  'agents/0002-identities': ({ text, integer, bytes, ordinal, end, digest, appendOnly }) => [
    `CREATE TABLE agent_authorities (
      generation ${integer} PRIMARY KEY,
      made_at ${text} NOT NULL,
      not_after ${text} NOT NULL,
      ecdsa_pem ${text} NOT NULL,
      ml_dsa_65_pem ${text} NOT NULL,
      public_keys ${text} NOT NULL,
      private_keys ${bytes} NOT NULL
    ) ${end}`,
    ...appendOnly('agent_authorities', [['generation']]),
    `CREATE TABLE agent_identities (
      identity_no ${ordinal},
      agent_no ${integer} NOT NULL REFERENCES agents,
      issue_no ${integer} NOT NULL,
      generation ${integer} NOT NULL REFERENCES agent_authorities,
      did ${text} NOT NULL,
      public_keys ${text} NOT NULL,
      ecdsa_serial ${text} NOT NULL UNIQUE,
      ml_dsa_65_serial ${text} NOT NULL UNIQUE,
      ecdsa_pem ${text} NOT NULL,
      ml_dsa_65_pem ${text} NOT NULL,
      not_after ${text} NOT NULL,
      ${digest('composition')} NOT NULL,
      passport_jti ${text} NOT NULL UNIQUE,
      passport_jws ${text} NOT NULL,
      passport_status ${text} NOT NULL CHECK (passport_status IN ('valid', 'suspended', 'revoked', 'superseded')),
      status_changed_at ${text} NOT NULL,
      key_id ${text} NOT NULL,
      issued_at ${text} NOT NULL,
      UNIQUE (agent_no, issue_no)
    ) ${end}`,
    `CREATE TABLE agent_revocations (
      kind ${text} NOT NULL CHECK (kind IN ('ecdsa', 'ml_dsa_65')),
      generation ${integer} NOT NULL REFERENCES agent_authorities,
      serial ${text} NOT NULL,
      identity_no ${integer} NOT NULL REFERENCES agent_identities,
      reason ${text} NOT NULL CHECK (reason IN ('certificateHold', 'cessationOfOperation', 'superseded')),
      revoked_at ${text} NOT NULL,
      PRIMARY KEY (kind, serial)
    ) ${end}`,
    'CREATE INDEX agent_revocations_by_list ON agent_revocations (kind, generation)',
  ],
};
