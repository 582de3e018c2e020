import { column, type TablesOf, table } from '../database/table.ts';
import type { AgentStateName, AgentType, SuspensionCause, TrustTier } from './enums.ts';
import { IDENTITY_TABLES } from './identity/tables.ts';
import { KILL_TABLES } from './kill/tables.ts';
import { TRUST_TABLES } from './trust/tables.ts';
import { VAULT_TABLES } from './vault/tables.ts';

export const AGENT_TABLES = {
  agents: table(
    {
      agent_no: column.ordinal(),
      agent_id: column.text('UNIQUE'),
      name: column.text(),
      agent_type: column.text<AgentType>(),
      model: column.text(),
      version: column.text(),
      /** JSON of names, sorted, each once. */
      allowed_tools: column.text(),
      /** JSON of host names, sorted, each once. */
      allowed_apis: column.text(),
      prompt_sha256: column.optional(column.digest()),
      /** Hex SHA-256 over model, version, allowances and prompt: see `composition.ts`. */
      composition: column.digest(),
      /** Since when it is another one than its passport and certificates say; null where it is the same. */
      composition_changed_at: column.optional(column.text()),
      /** The agent that delegates to it. */
      parent_agent_id: column.optional(column.text('REFERENCES agents (agent_id)')),
      /**
       * The agent at the top of its family: itself where it has no parent. Its row is locked before any of the family
       * changes.
       */
      root_agent_id: column.text(),
      state: column.oneOf<AgentStateName>(['registered', 'active', 'suspended', 'revoked']),
      /** The cause of its suspension; null if it is not suspended. */
      suspended_because: column.optional(column.text<SuspensionCause>()),
      state_changed_at: column.text(),
      registered_at: column.text(),
      registered_by: column.text(),
      /** The first time. */
      onboarded_at: column.optional(column.text()),
      /** From when on the days count that promotion takes: its first onboarding, or its last reinstatement. */
      trusted_since: column.optional(column.text()),
      /** `after` of the last line of its ledger. */
      score: column.integer('CHECK (score BETWEEN 0 AND 100)'),
      tier: column.text<TrustTier>(),
      /** Number of the last line of its ledger. */
      ledger_length: column.integer(),
      /** Its last attested compliant action. */
      attested_at: column.optional(column.text()),
      /** UTC day `YYYY-MM-DD` of the service's clock on which `attested_points` were earned. */
      attested_day: column.optional(column.text()),
      attested_points: column.integer(),
      /** When time next changes its score; null where it does not. */
      due_at: column.optional(column.text()),
      /** The number of its reported actions that are recorded. */
      actions: column.integer(),
    },
    {
      indexes: {
        agents_by_root: '(root_agent_id, agent_no)',
        agents_by_parent: '(parent_agent_id) WHERE parent_agent_id IS NOT NULL',
        agents_by_state: '(state, agent_no)',
        agents_by_tier: '(tier, agent_no)',
        agents_due: '(due_at) WHERE due_at IS NOT NULL',
      },
    },
  ),
  ...IDENTITY_TABLES,
  ...TRUST_TABLES,
  ...KILL_TABLES,
  ...VAULT_TABLES,
};

export type AgentTables = TablesOf<typeof AGENT_TABLES>;
