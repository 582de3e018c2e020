import { integer, oneOf, optional, ordinal, table, text } from '../../database/table.ts';
import type { KillMode, KillStepName, StepResult } from '../words.ts';

export const KILL_TABLES = {
  agent_kills: table(
    {
      kill_no: ordinal(),
      kill_id: text('UNIQUE'),
      agent_no: integer('REFERENCES agents'),
      mode: oneOf<KillMode>(['suspend', 'revoke']),
      reason: text(),
      started_at: text(),
      started_by: text(),
      finished_at: optional(text()),
      flipped_after_ms: optional(integer()),
      /** Until when the process that carries it out has it to itself. */
      claimed_until: optional(text()),
      claimed_by: optional(text()),
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
      kill_no: integer('REFERENCES agent_kills'),
      number: integer(),
      agent_no: integer('REFERENCES agents'),
      step: text<KillStepName>(),
      deadline_ms: integer(),
      started_at: optional(text()),
      ended_at: optional(text()),
      result: optional(oneOf<StepResult>(['completed', 'failed', 'not_available'])),
      /** What was done, or why it failed, for people. */
      detail: optional(text()),
    },
    { constraints: ['PRIMARY KEY (kill_no, number)'], indexes: { agent_kill_steps_by_agent: '(agent_no, kill_no)' } },
  ),
  agent_subscribers: table({
    subscriber_no: ordinal(),
    subscriber_id: text('UNIQUE'),
    url: text(),
    audience: text(),
    added_at: text(),
    added_by: text(),
    removed_at: optional(text()),
  }),
  /** Security Event Tokens that subscribers are sent. */
  agent_set_deliveries: table(
    {
      delivery_no: ordinal(),
      /** Of the token. */
      jti: text('UNIQUE'),
      subscriber_no: integer('REFERENCES agent_subscribers'),
      agent_no: integer('REFERENCES agents'),
      kill_no: optional(integer()),
      event: text(),
      /** The token. */
      jws: text(),
      /** In the outbox. */
      message_id: text('UNIQUE'),
      state: oneOf(['pending', 'delivered', 'dead']),
      attempts: integer(),
      made_at: text(),
      delivered_at: optional(text()),
    },
    {
      indexes: {
        agent_set_deliveries_by_kill: '(kill_no)',
        agent_set_deliveries_by_subscriber: '(subscriber_no, delivery_no)',
      },
    },
  ),
};
