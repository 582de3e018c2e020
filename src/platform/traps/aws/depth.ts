/** Calls by which somebody finds out whether a key works, and whose it is. */
const VALIDATING = ['sts:GetCallerIdentity', 'sts:GetAccessKeyInfo'];

/** How far somebody went who asked AWS for an action, as `service:Action`. */
export function depthOfAwsAction(action: string | null): 'validated' | 'used' {
  return action !== null && VALIDATING.includes(action) ? 'validated' : 'used';
}
