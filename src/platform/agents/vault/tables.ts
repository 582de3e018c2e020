import { bytes, integer, oneOf, optional, ordinal, table, text } from '../../database/table.ts';
import type { DecoySort } from '../words.ts';

export const VAULT_TABLES = {
  agent_vaults: table({
    agent_no: integer('PRIMARY KEY REFERENCES agents'),
    vault_id: text('UNIQUE'),
    /** Its key, sealed. */
    sealed_key: bytes(),
    made_at: text(),
  }),
  /** Secrets of agents, and decoys among them: nothing here tells them apart. */
  agent_secrets: table(
    {
      secret_no: ordinal(),
      agent_no: integer('REFERENCES agents'),
      name: text(),
      /** From 1 on, one more for each time that it was put. */
      version: integer(),
      sealed: bytes(),
      put_at: text(),
      put_by: text(),
    },
    { constraints: ['UNIQUE (agent_no, name)'] },
  ),
  /** Secrets that were given out. */
  agent_leases: table(
    {
      lease_no: ordinal(),
      lease_id: text('UNIQUE'),
      agent_no: integer('REFERENCES agents'),
      /** Of the secret, which may be another one by now, or none. */
      name: text(),
      version: integer(),
      taken_at: text(),
      taken_by: text(),
      until_at: text(),
      ended_at: optional(text()),
      ended_because: optional(text()),
    },
    { indexes: { agent_leases_by_agent: '(agent_no, until_at)' } },
  ),
  agent_decoys: table(
    {
      decoy_no: ordinal(),
      decoy_id: text('UNIQUE'),
      agent_no: integer('REFERENCES agents'),
      sort: oneOf<DecoySort>(['secret', 'tool']),
      name: text(),
      /** Null for a tool, and for a secret that was removed. */
      secret_no: optional(integer()),
      /** The trap. */
      credential_id: text('UNIQUE'),
      made_at: text(),
      made_by: text(),
      removed_at: optional(text()),
    },
    { uniqueIndexes: { agent_decoys_standing: '(agent_no, sort, name) WHERE removed_at IS NULL' } },
  ),
};
