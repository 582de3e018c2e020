import { sha256 } from '../../../core/digest.ts';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import type { KeyedRequest } from '../../idempotency/keyed-results.ts';
import type { AgentPublicKeys } from '../identity/identity-rows.ts';
import { isSignedByAgent } from '../identity/keys.ts';
import type { ActionAttestation, ActionContent } from '../wire/actions.ts';

/** An action, and who reports it. */
export interface ActionReport {
  agentId: string;
  /** As entries name who acts. */
  actor: string;
  content: ActionContent;
  attestation: ActionAttestation | null;
  keyed: KeyedRequest | null;
}

/** In lower case, however its agent writes it (RFC 9562 section 4). */
export function actionIdOf({ action_id }: ActionAttestation): string {
  return action_id.toLowerCase();
}

/** The digest by which two actions of one id count as the same. */
export function contentSha256(content: ActionContent): string {
  return sha256(canonicalize(content as Json));
}

const FORMAT = 'evidence-agent-action/1';

/** The service's clock and the agent's may be so far apart. */
const CLOCK_OFF_MS = 5 * 60_000;

/** The text that an attestation signs: RFC 8785, without members that the action lacks. */
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

/** True if an action was signed too long before or after now. */
export function isSignedTooFar({ signed_at }: Pick<ActionAttestation, 'signed_at'>, now: Date): boolean {
  const off = Math.abs(Date.parse(signed_at) - now.getTime());
  return !(off <= CLOCK_OFF_MS);
}
