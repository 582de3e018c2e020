import type { Generated } from 'kysely';
import type { KillMode, KillStepName, StepResult } from '../words.ts';

// Over ten members: they are columns.
export interface AgentKillTable {
  kill_no: Generated<number>;
  kill_id: string;
  agent_no: number;
  mode: KillMode;
  reason: string;
  started_at: string;
  started_by: string;
  finished_at: string | null;
  flipped_after_ms: number | null;
  /** Until when the process that carries it out has it to itself. */
  claimed_until: string | null;
  claimed_by: string | null;
}

/** Steps of kills, in their order: those of children first. */
export interface AgentKillStepTable {
  kill_no: number;
  number: number;
  agent_no: number;
  step: KillStepName;
  deadline_ms: number;
  started_at: string | null;
  ended_at: string | null;
  result: StepResult | null;
  /** What was done, or why it failed, for people. */
  detail: string | null;
}

export interface AgentSubscriberTable {
  subscriber_no: Generated<number>;
  subscriber_id: string;
  url: string;
  audience: string;
  added_at: string;
  added_by: string;
  removed_at: string | null;
}

/** Security Event Tokens that subscribers are sent. */
// Over ten members: they are columns.
export interface AgentSetDeliveryTable {
  delivery_no: Generated<number>;
  /** Of the token. */
  jti: string;
  subscriber_no: number;
  agent_no: number;
  kill_no: number | null;
  event: string;
  /** The token. */
  jws: string;
  /** In the outbox. */
  message_id: string;
  state: 'pending' | 'delivered' | 'dead';
  attempts: number;
  made_at: string;
  delivered_at: string | null;
}
