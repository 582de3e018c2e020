import type { Migrations } from '../database/migration.ts';
import { IDENTITY_MIGRATIONS } from './identity/migrations.ts';
import { KILL_MIGRATIONS } from './kill/migrations.ts';
import { TRUST_MIGRATIONS } from './trust/migrations.ts';
import { AGENT_VAULT_MIGRATIONS } from './vault/migrations.ts';

export const AGENT_MIGRATIONS: Migrations = {
  'agents/0001-agents': ({ text, integer, ordinal, end, digest }) => [
    `CREATE TABLE agents (
      agent_no ${ordinal},
      agent_id ${text} NOT NULL UNIQUE,
      name ${text} NOT NULL,
      agent_type ${text} NOT NULL,
      model ${text} NOT NULL,
      version ${text} NOT NULL,
      allowed_tools ${text} NOT NULL,
      allowed_apis ${text} NOT NULL,
      ${digest('prompt_sha256')},
      ${digest('composition')} NOT NULL,
      composition_changed_at ${text},
      parent_agent_id ${text} REFERENCES agents (agent_id),
      root_agent_id ${text} NOT NULL,
      state ${text} NOT NULL CHECK (state IN ('registered', 'active', 'suspended', 'revoked')),
      suspended_because ${text},
      state_changed_at ${text} NOT NULL,
      registered_at ${text} NOT NULL,
      registered_by ${text} NOT NULL,
      onboarded_at ${text},
      trusted_since ${text},
      score ${integer} NOT NULL CHECK (score BETWEEN 0 AND 100),
      tier ${text} NOT NULL,
      ledger_length ${integer} NOT NULL,
      attested_at ${text},
      attested_day ${text},
      attested_points ${integer} NOT NULL,
      due_at ${text}
    ) ${end}`,
    'CREATE INDEX agents_by_root ON agents (root_agent_id, agent_no)',
    'CREATE INDEX agents_by_parent ON agents (parent_agent_id) WHERE parent_agent_id IS NOT NULL',
    'CREATE INDEX agents_by_state ON agents (state, agent_no)',
    'CREATE INDEX agents_by_tier ON agents (tier, agent_no)',
    'CREATE INDEX agents_due ON agents (due_at) WHERE due_at IS NOT NULL',
  ],
  ...IDENTITY_MIGRATIONS,
  ...TRUST_MIGRATIONS,
  ...KILL_MIGRATIONS,
  ...AGENT_VAULT_MIGRATIONS,
  'agents/0005-counts': ({ integer }) => [
    `ALTER TABLE agents ADD COLUMN actions ${integer} NOT NULL DEFAULT 0`,
    'UPDATE agents SET actions = (SELECT COUNT(*) FROM agent_actions WHERE agent_actions.agent_no = agents.agent_no)',
    `CREATE INDEX agent_violations_by_time ON agent_actions (received_at) WHERE decision = 'violation'`,
    'CREATE INDEX agent_kill_steps_by_agent ON agent_kill_steps (agent_no, kill_no)',
  ],
};
