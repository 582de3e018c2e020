import type { Migrations } from '../../database/migration.ts';

export const KILL_MIGRATIONS: Migrations = {
  // Over 40 lines: it is the form of tables.
  'agents/0003-kills': ({ text, integer, ordinal, end }) => [
    `CREATE TABLE agent_kills (
      kill_no ${ordinal},
      kill_id ${text} NOT NULL UNIQUE,
      agent_no ${integer} NOT NULL REFERENCES agents,
      mode ${text} NOT NULL CHECK (mode IN ('suspend', 'revoke')),
      reason ${text} NOT NULL,
      started_at ${text} NOT NULL,
      started_by ${text} NOT NULL,
      finished_at ${text},
      flipped_after_ms ${integer},
      claimed_until ${text},
      claimed_by ${text}
    ) ${end}`,
    'CREATE INDEX agent_kills_by_agent ON agent_kills (agent_no, kill_no)',
    'CREATE INDEX agent_kills_unfinished ON agent_kills (kill_no) WHERE finished_at IS NULL',
    `CREATE TABLE agent_kill_steps (
      kill_no ${integer} NOT NULL REFERENCES agent_kills,
      number ${integer} NOT NULL,
      agent_no ${integer} NOT NULL REFERENCES agents,
      step ${text} NOT NULL,
      deadline_ms ${integer} NOT NULL,
      started_at ${text},
      ended_at ${text},
      result ${text} CHECK (result IN ('completed', 'failed', 'not_available')),
      detail ${text},
      PRIMARY KEY (kill_no, number)
    ) ${end}`,
    `CREATE TABLE agent_subscribers (
      subscriber_no ${ordinal},
      subscriber_id ${text} NOT NULL UNIQUE,
      url ${text} NOT NULL,
      audience ${text} NOT NULL,
      added_at ${text} NOT NULL,
      added_by ${text} NOT NULL,
      removed_at ${text}
    ) ${end}`,
    `CREATE TABLE agent_set_deliveries (
      delivery_no ${ordinal},
      jti ${text} NOT NULL UNIQUE,
      subscriber_no ${integer} NOT NULL REFERENCES agent_subscribers,
      agent_no ${integer} NOT NULL REFERENCES agents,
      kill_no ${integer},
      event ${text} NOT NULL,
      jws ${text} NOT NULL,
      message_id ${text} NOT NULL UNIQUE,
      state ${text} NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
      attempts ${integer} NOT NULL,
      made_at ${text} NOT NULL,
      delivered_at ${text}
    ) ${end}`,
    'CREATE INDEX agent_set_deliveries_by_kill ON agent_set_deliveries (kill_no)',
    'CREATE INDEX agent_set_deliveries_by_subscriber ON agent_set_deliveries (subscriber_no, delivery_no)',
  ],
};
