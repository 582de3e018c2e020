import { z } from 'zod';

const count = z.int();

export const agentStatsSchema = z.object({
  agents: count,
  states: z.object({ registered: count, active: count, suspended: count, revoked: count }),
  /** Agents that are not revoked, by tier. */
  tiers: z.object({ VERIFIED: count, TRUSTED: count, MONITOR: count, RESTRICTED: count, 'AUTO-SUSPENDED': count }),
  suspended_passports: count,
  unfinished_kills: count,
  actions: count,
  actions_24h: count,
  violations_24h: count,
  last_action_at: z.string().nullable(),
  /** Since when something is suspended that is suspended now. */
  wrong_since: z.string().nullable(),
});
export type AgentStats = z.infer<typeof agentStatsSchema>;
