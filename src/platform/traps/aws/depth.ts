/** Calls by which somebody finds out whether a key works, and whose it is. */
const VALIDATING = ['sts:GetCallerIdentity', 'sts:GetAccessKeyInfo'];

/** The depth of a use that asked AWS for an action, given as `service:Action`. */
export function depthOfAwsAction(action: string | null): 'validated' | 'used' {
  return action !== null && VALIDATING.includes(action) ? 'validated' : 'used';
}
