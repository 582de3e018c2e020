import { sha256 } from '../../../core/digest.ts';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import type { KeyedRequest } from '../../idempotency/keyed-results.ts';
import type { AgentPublicKeys } from '../identity/identity-rows.ts';
import { isSignedByAgent } from '../identity/keys.ts';
import type { ActionAttestation, ActionContent } from '../wire/actions.ts';

/** Action with its reporter. */
export interface ActionReport {
  agentId: string;
  /** Reporter, as named in entries. */
  actor: string;
  content: ActionContent;
  attestation: ActionAttestation | null;
  keyed: KeyedRequest | null;
}

/** Returns the action id in lower case, however the agent writes it (RFC 9562 section 4). */
export function actionIdOf({ action_id }: ActionAttestation): string {
  return action_id.toLowerCase();
}

/** Returns the digest that decides whether two actions with one id are the same. */
export function contentSha256(content: ActionContent): string {
  return sha256(canonicalize(content as Json));
}

const FORMAT = 'evidence-agent-action/1';

/** Maximum difference between the clocks of the service and the agent. */
const CLOCK_OFF_MS = 5 * 60_000;

/** Returns the text that an attestation signs: RFC 8785, without members that the action lacks. */
export function attestedText(
  agentId: string,
  { action_id, signed_at }: Pick<ActionAttestation, 'action_id' | 'signed_at'>,
  content: ActionContent,
): string {
  return canonicalize({ format: FORMAT, agent_id: agentId, action_id, signed_at, ...content } as Json);
}

/** @param publicKeys of the agent's last onboarding. */
export function isSignedAction(
  agentId: string,
  content: ActionContent,
  attestation: ActionAttestation,
  publicKeys: AgentPublicKeys,
): boolean {
  const { algorithm, signature } = attestation;
  const message = Buffer.from(attestedText(agentId, attestation, content));
  return isSignedByAgent(publicKeys, { algorithm, message, signature });
}

/** Reports whether an action was signed too long before or after now. */
export function isSignedTooFar({ signed_at }: Pick<ActionAttestation, 'signed_at'>, now: Date): boolean {
  const off = Math.abs(Date.parse(signed_at) - now.getTime());
  return !(off <= CLOCK_OFF_MS);
}
