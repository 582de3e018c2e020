import type { Generated } from 'kysely';
import type { DecoySort } from '../words.ts';

export interface AgentVaultTable {
  agent_no: number;
  vault_id: string;
  /** Its key, sealed. */
  sealed_key: Uint8Array;
  made_at: string;
}

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

export interface AgentLeaseTable {
  lease_no: Generated<number>;
  lease_id: string;
  agent_no: number;
  secret_no: number;
  taken_at: string;
  taken_by: string;
  until_at: string;
  ended_at: string | null;
  ended_because: string | null;
}

export interface AgentDecoyTable {
  decoy_no: Generated<number>;
  agent_no: number;
  sort: DecoySort;
  name: string;
  /** The trap. */
  credential_id: string;
  /** Sealed; null for a tool. */
  sealed: Uint8Array | null;
  made_at: string;
  made_by: string;
  removed_at: string | null;
}
