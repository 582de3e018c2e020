import type { Generated } from 'kysely';
import type { DecoySort } from '../words.ts';

export interface AgentVaultTable {
  agent_no: number;
  vault_id: string;
  /** Its key, sealed. */
  sealed_key: Uint8Array;
  made_at: string;
}

/** Secrets of agents, and decoys among them: nothing here tells them apart. */
export interface AgentSecretTable {
  secret_no: Generated<number>;
  agent_no: number;
  name: string;
  /** From 1 on, one more for each time that it was put. */
  version: number;
  sealed: Uint8Array;
  put_at: string;
  put_by: string;
}

/** Secrets that were given out. */
export interface AgentLeaseTable {
  lease_no: Generated<number>;
  lease_id: string;
  agent_no: number;
  /** Of the secret, which may be another one by now, or none. */
  name: string;
  version: number;
  taken_at: string;
  taken_by: string;
  until_at: string;
  ended_at: string | null;
  ended_because: string | null;
}

export interface AgentDecoyTable {
  decoy_no: Generated<number>;
  decoy_id: string;
  agent_no: number;
  sort: DecoySort;
  name: string;
  /** Null for a tool, and for a secret that was removed. */
  secret_no: number | null;
  /** The trap. */
  credential_id: string;
  made_at: string;
  made_by: string;
  removed_at: string | null;
}
