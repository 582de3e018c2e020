import { sha256 } from '../../../core/digest.ts';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import type { KeyedRequest } from '../../idempotency/keyed-results.ts';
import type { Agent } from '../agent-rows.ts';
import type { TrustChange } from '../ports.ts';
import type { ActionAttestation, ActionContent } from '../requests/actions.ts';
import type { NewAgentAction } from './action-rows.ts';
import type { JudgedAction } from './judging.ts';

/** An action, and who reports it. */
export interface ActionReport {
  agentId: string;
  /** As entries name who acts. */
  actor: string;
  content: ActionContent;
  attestation: ActionAttestation | null;
  keyed: KeyedRequest | null;
}

/** What two actions of one id must have in common to be one. */
export function contentSha256(content: ActionContent): string {
  return sha256(canonicalize(content as Json));
}

/** An action as it is kept. It has no entry yet. */
export function rowOf(
  { agent_no }: Agent,
  { actor, content, attestation }: ActionReport,
  { judged, change, now }: { judged: JudgedAction; change: TrustChange; now: Date },
): NewAgentAction {
  const { action_type, action_description, tool_used = null, api_called = null } = content;
  const { input_hash = null, output_hash = null, model = null, version = null } = content;
  const { action_id, decision, violations, isAttested } = judged;
  const { before: score_before, after: score_after, tier, reasons } = change;
  return {
    ...{ action_id, agent_no, received_at: now.toISOString(), reported_by: actor },
    ...{ action_type, action_description, tool_used, api_called, input_hash, output_hash, model, version },
    ...{ decision, violations: JSON.stringify(violations), attested: Number(isAttested) },
    ...{ signed_at: attestation?.signed_at ?? null, algorithm: attestation?.algorithm ?? null },
    ...{ signature: attestation?.signature ?? null, content_sha256: contentSha256(content) },
    ...{ score_before, score_after, tier, reasons: JSON.stringify(reasons), entry_sequence: 0, entry_hash: '' },
  };
}
