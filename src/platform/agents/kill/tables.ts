import { column, table } from '../../database/table.ts';
import type { KillMode, KillStepName, StepResult } from '../enums.ts';

export const KILL_TABLES = {
  agent_kills: table(
    {
      kill_no: column.ordinal(),
      kill_id: column.text('UNIQUE'),
      agent_no: column.integer('REFERENCES agents'),
      mode: column.oneOf<KillMode>(['suspend', 'revoke']),
      reason: column.text(),
      started_at: column.text(),
      started_by: column.text(),
      finished_at: column.optional(column.text()),
      flipped_after_ms: column.optional(column.integer()),
      /** Until when the process that carries it out has it to itself. */
      claimed_until: column.optional(column.text()),
      claimed_by: column.optional(column.text()),
    },
    {
      indexes: {
        agent_kills_by_agent: '(agent_no, kill_no)',
        agent_kills_unfinished: '(kill_no) WHERE finished_at IS NULL',
      },
    },
  ),
  /** Steps of kills, in their order: those of children first. */
  agent_kill_steps: table(
    {
      kill_no: column.integer('REFERENCES agent_kills'),
      number: column.integer(),
      agent_no: column.integer('REFERENCES agents'),
      step: column.text<KillStepName>(),
      deadline_ms: column.integer(),
      started_at: column.optional(column.text()),
      ended_at: column.optional(column.text()),
      result: column.optional(column.oneOf<StepResult>(['completed', 'failed', 'not_available'])),
      /** For people: the outcome, or the reason of a failure. */
      detail: column.optional(column.text()),
    },
    { constraints: ['PRIMARY KEY (kill_no, number)'], indexes: { agent_kill_steps_by_agent: '(agent_no, kill_no)' } },
  ),
  agent_subscribers: table({
    subscriber_no: column.ordinal(),
    subscriber_id: column.text('UNIQUE'),
    url: column.text(),
    audience: column.text(),
    added_at: column.text(),
    added_by: column.text(),
    removed_at: column.optional(column.text()),
  }),
  /** Security Event Tokens that subscribers are sent. */
  agent_set_deliveries: table(
    {
      delivery_no: column.ordinal(),
      /** The identifier of the token. */
      jti: column.text('UNIQUE'),
      subscriber_no: column.integer('REFERENCES agent_subscribers'),
      agent_no: column.integer('REFERENCES agents'),
      kill_no: column.optional(column.integer()),
      event: column.text(),
      /** The token. */
      jws: column.text(),
      /** In the outbox. */
      message_id: column.text('UNIQUE'),
      state: column.oneOf(['pending', 'delivered', 'dead']),
      attempts: column.integer(),
      made_at: column.text(),
      delivered_at: column.optional(column.text()),
    },
    {
      indexes: {
        agent_set_deliveries_by_kill: '(kill_no)',
        agent_set_deliveries_by_subscriber: '(subscriber_no, delivery_no)',
      },
    },
  ),
};
