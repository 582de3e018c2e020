import type { Json } from '../../../core/json/canonical.ts';
import type { AgentEntry } from '../entries.ts';
import type { AgentStateName } from '../enums.ts';
import { lineToEntry } from '../trust/entries.ts';
import type { LedgerChange } from '../trust/families.ts';
import type { JudgedAction } from './judging.ts';
import type { ActionReport } from './report.ts';

/** An action with all that was signed of it, so that its signature can be checked with the entry alone. */
export function loggedEntry(
  report: ActionReport,
  { action_id, decision, violations, isAttested }: JudgedAction,
  { change, now }: { change: LedgerChange; now: Date },
): AgentEntry {
  const judged = { decision, violations: violations.map((violation) => ({ ...violation })), attested: isAttested };
  const kept = { received_at: now.toISOString(), reported_by: report.actor, outcome: null, reported_at: null };
  return entryOf(report, 'action.logged', action_id, { ...judged, ...kept, trust: trustToEntry(change) });
}

/** The entry for an attempt by an agent that may not act. */
export function refusedEntry(
  report: ActionReport,
  { action_id, state, change }: { action_id: string; state: AgentStateName; change: LedgerChange },
): AgentEntry {
  return entryOf(report, 'action.refused', action_id, { state, trust: trustToEntry(change) });
}

function entryOf(
  { agentId, actor, content, attestation }: ActionReport,
  action: string,
  action_id: string,
  more: { [name: string]: Json },
): AgentEntry {
  const said = { ...content, ...(attestation && { attestation: { ...attestation } }) };
  return {
    agentId,
    actor,
    action,
    of: ['action', action_id],
    more: { ...(said as { [name: string]: Json }), ...more },
  };
}

/** With the lines of the ledger that the action led to. */
function trustToEntry({ before, after, tier, lines }: LedgerChange) {
  return { before, after, tier, lines: lines.map(lineToEntry) };
}
