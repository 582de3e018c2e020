import type { Migrations } from '../../database/migration.ts';

export const AGENT_VAULT_MIGRATIONS: Migrations = {
  // Over 40 lines: it is the form of tables.
  'agents/0004-vaults': ({ text, integer, bytes, ordinal, end }) => [
    `CREATE TABLE agent_vaults (
      agent_no ${integer} PRIMARY KEY REFERENCES agents,
      vault_id ${text} NOT NULL UNIQUE,
      sealed_key ${bytes} NOT NULL,
      made_at ${text} NOT NULL
    ) ${end}`,
    `CREATE TABLE agent_secrets (
      secret_no ${ordinal},
      agent_no ${integer} NOT NULL REFERENCES agents,
      name ${text} NOT NULL,
      version ${integer} NOT NULL,
      sealed ${bytes} NOT NULL,
      put_at ${text} NOT NULL,
      put_by ${text} NOT NULL,
      UNIQUE (agent_no, name)
    ) ${end}`,
    `CREATE TABLE agent_leases (
      lease_no ${ordinal},
      lease_id ${text} NOT NULL UNIQUE,
      agent_no ${integer} NOT NULL REFERENCES agents,
      name ${text} NOT NULL,
      version ${integer} NOT NULL,
      taken_at ${text} NOT NULL,
      taken_by ${text} NOT NULL,
      until_at ${text} NOT NULL,
      ended_at ${text},
      ended_because ${text}
    ) ${end}`,
    'CREATE INDEX agent_leases_by_agent ON agent_leases (agent_no, until_at)',
    `CREATE TABLE agent_decoys (
      decoy_no ${ordinal},
      decoy_id ${text} NOT NULL UNIQUE,
      agent_no ${integer} NOT NULL REFERENCES agents,
      sort ${text} NOT NULL CHECK (sort IN ('secret', 'tool')),
      name ${text} NOT NULL,
      secret_no ${integer},
      credential_id ${text} NOT NULL UNIQUE,
      made_at ${text} NOT NULL,
      made_by ${text} NOT NULL,
      removed_at ${text}
    ) ${end}`,
    'CREATE UNIQUE INDEX agent_decoys_standing ON agent_decoys (agent_no, sort, name) WHERE removed_at IS NULL',
  ],
};
