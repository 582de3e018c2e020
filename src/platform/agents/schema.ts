import type { Generated } from 'kysely';
import type { AgentActionTable, AgentOutcomeTable } from './actions/schema.ts';
import type { AgentAuthorityTable, AgentIdentityTable, AgentRevocationTable } from './identity/schema.ts';
import type { AgentKillStepTable, AgentKillTable, AgentSetDeliveryTable, AgentSubscriberTable } from './kill/schema.ts';
import type { AgentTrustLineTable } from './trust/schema.ts';
import type { AgentDecoyTable, AgentLeaseTable, AgentSecretTable, AgentVaultTable } from './vault/schema.ts';
import type { AgentStateName, AgentType, SuspensionCause, TrustTier } from './words.ts';

// Over ten members: they are columns.
export interface AgentTable {
  agent_no: Generated<number>;
  agent_id: string;
  name: string;
  agent_type: AgentType;
  model: string;
  version: string;
  /** JSON of names, sorted, each once. */
  allowed_tools: string;
  /** JSON of host names, sorted, each once. */
  allowed_apis: string;
  prompt_sha256: string | null;
  /** Hex SHA-256 over model, version, allowances and prompt: see `composition.ts`. */
  composition: string;
  /** Since when it is another one than its passport and certificates say; null where it is the same. */
  composition_changed_at: string | null;
  /** The agent that delegates to it. */
  parent_agent_id: string | null;
  /** The agent at the top of its family: itself where it has no parent. Its row is locked before any of the family changes. */
  root_agent_id: string;
  state: AgentStateName;
  /** Why it is suspended; null where it is not. */
  suspended_because: SuspensionCause | null;
  state_changed_at: string;
  registered_at: string;
  registered_by: string;
  /** The first time. */
  onboarded_at: string | null;
  /** From when on the days count that promotion takes: its first onboarding, or its last reinstatement. */
  trusted_since: string | null;
  /** `after` of the last line of its ledger. */
  score: number;
  tier: TrustTier;
  /** Number of the last line of its ledger. */
  ledger_length: number;
  /** Its last attested compliant action. */
  attested_at: string | null;
  /** UTC day `YYYY-MM-DD` of the service's clock on which `attested_points` were earned. */
  attested_day: string | null;
  attested_points: number;
  /** When time next changes its score; null where it does not. */
  due_at: string | null;
  /** How many it reported that are recorded. */
  actions: number;
}

// Over ten members: they are tables.
export interface AgentTables {
  agents: AgentTable;
  agent_identities: AgentIdentityTable;
  agent_authorities: AgentAuthorityTable;
  agent_revocations: AgentRevocationTable;
  agent_actions: AgentActionTable;
  agent_outcomes: AgentOutcomeTable;
  agent_trust_lines: AgentTrustLineTable;
  agent_kills: AgentKillTable;
  agent_kill_steps: AgentKillStepTable;
  agent_subscribers: AgentSubscriberTable;
  agent_set_deliveries: AgentSetDeliveryTable;
  agent_vaults: AgentVaultTable;
  agent_secrets: AgentSecretTable;
  agent_leases: AgentLeaseTable;
  agent_decoys: AgentDecoyTable;
}
