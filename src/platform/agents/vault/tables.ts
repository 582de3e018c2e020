import { column, table } from '../../database/table.ts';
import type { DecoySort } from '../enums.ts';

export const VAULT_TABLES = {
  agent_vaults: table({
    agent_no: column.integer('PRIMARY KEY REFERENCES agents'),
    vault_id: column.text('UNIQUE'),
    /** Its key, sealed. */
    sealed_key: column.bytes(),
    made_at: column.text(),
  }),
  /** Secrets of agents, and decoys among them: nothing here tells them apart. */
  agent_secrets: table(
    {
      secret_no: column.ordinal(),
      agent_no: column.integer('REFERENCES agents'),
      name: column.text(),
      /** From 1 on, one more for each time that it was put. */
      version: column.integer(),
      sealed: column.bytes(),
      put_at: column.text(),
      put_by: column.text(),
    },
    { constraints: ['UNIQUE (agent_no, name)'] },
  ),
  /** Secrets that were given out. */
  agent_leases: table(
    {
      lease_no: column.ordinal(),
      lease_id: column.text('UNIQUE'),
      agent_no: column.integer('REFERENCES agents'),
      /** The name of the secret, which may be another one by now, or none. */
      name: column.text(),
      version: column.integer(),
      taken_at: column.text(),
      taken_by: column.text(),
      until_at: column.text(),
      ended_at: column.optional(column.text()),
      ended_because: column.optional(column.text()),
    },
    { indexes: { agent_leases_by_agent: '(agent_no, until_at)' } },
  ),
  agent_decoys: table(
    {
      decoy_no: column.ordinal(),
      decoy_id: column.text('UNIQUE'),
      agent_no: column.integer('REFERENCES agents'),
      sort: column.oneOf<DecoySort>(['secret', 'tool']),
      name: column.text(),
      /** Null for a tool, and for a secret that was removed. */
      secret_no: column.optional(column.integer()),
      /** The trap. */
      credential_id: column.text('UNIQUE'),
      made_at: column.text(),
      made_by: column.text(),
      removed_at: column.optional(column.text()),
    },
    { uniqueIndexes: { agent_decoys_standing: '(agent_no, sort, name) WHERE removed_at IS NULL' } },
  ),
};
