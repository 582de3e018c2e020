import type { CeilingCause, TrustRuleName } from '../words.ts';

/** The ledger of trust; never changed. */
// Over ten members: they are columns.
export interface AgentTrustLineTable {
  agent_no: number;
  /** Of its agent, from 1 on. */
  entry_no: number;
  at: string;
  rule: TrustRuleName;
  /** Asked for; what was given is the difference of the scores. */
  points: number;
  score_before: number;
  score_after: number;
  ceiling: number;
  ceiling_because: CeilingCause;
  action_id: string | null;
  /** JSON. */
  detail: string;
}
