import { sha256 } from '../../../core/digest.ts';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import type { KeyedRequest } from '../../idempotency/keyed-results.ts';
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
