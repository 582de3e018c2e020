import type { Agent } from '../agent-rows.ts';
import { type AgentEntry, PLATFORM } from '../entries.ts';
import { tierOf } from '../enums.ts';
import type { TrustLine } from './ledger.ts';

/** The entry for a score that changed, or would have. */
export function lineEntry(agentId: string, line: TrustLine): AgentEntry {
  return { agentId, actor: PLATFORM, action: 'trust.changed', of: ['trust', agentId], more: lineToEntry(line) };
}

/** A line as entries have it. */
export function lineToEntry(line: TrustLine) {
  return { ...line, tier: tierOf(line.after) };
}

/** @param passport its jti; null where none was valid. */
export function suspendedEntries(agent: Agent, passport: string | null): AgentEntry[] {
  const { agent_id: agentId, suspended_because: because, score } = agent;
  const entry = { agentId, actor: PLATFORM };
  const suspended: AgentEntry = {
    ...entry,
    action: 'agent.suspended',
    of: ['agent', agentId],
    more: { because, score },
  };
  if (passport === null) return [suspended];
  return [suspended, { ...entry, action: 'passport.suspended', of: ['passport', passport], more: { because } }];
}
