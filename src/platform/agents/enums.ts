/**
 * Autonomy of agents. `supervised`: a person watches. `semi_autonomous`: a person is asked at times. `autonomous`: no
 * one is asked.
 */
export const AGENT_TYPES = ['supervised', 'semi_autonomous', 'autonomous'] as const;
export type AgentType = (typeof AGENT_TYPES)[number];

/** States of agents. `registered`: has no identity yet. `revoked` is permanent. */
export const AGENT_STATES = ['registered', 'active', 'suspended', 'revoked'] as const;
export type AgentStateName = (typeof AGENT_STATES)[number];

/** Causes of a suspension: the agent's score fell, that of its parent did, or the kill switch was used. */
export const SUSPENSION_CAUSES = ['auto', 'parent', 'kill_switch'] as const;
export type SuspensionCause = (typeof SUSPENSION_CAUSES)[number];

/** Tiers, most trusted first; `from` is the lowest score of each. */
export const TIERS = [
  { tier: 'VERIFIED', from: 81, meaning: 'Enterprise trusted' },
  { tier: 'TRUSTED', from: 61, meaning: 'Trusted' },
  { tier: 'MONITOR', from: 41, meaning: 'Monitor' },
  { tier: 'RESTRICTED', from: 21, meaning: 'Restricted' },
  { tier: 'AUTO-SUSPENDED', from: 0, meaning: 'Auto-suspended' },
] as const;
export type TrustTier = (typeof TIERS)[number]['tier'];
export const TIER_NAMES = ['VERIFIED', 'TRUSTED', 'MONITOR', 'RESTRICTED', 'AUTO-SUSPENDED'] as const;

/** @param score an integer from 0 to 100. */
export function tierOf(score: number): TrustTier {
  return TIERS.find(({ from }) => score >= from)?.tier ?? 'AUTO-SUSPENDED';
}

/** Rules that write lines in the trust ledger. */
export const TRUST_RULES = [
  'registered',
  'onboarded',
  'attested_action',
  'tool_outside',
  'api_outside',
  'malformed_hash',
  'bad_signature',
  'attempt_while_suspended',
  'decoy_used',
  'composition_changed',
  'held_by_parent',
  'reinstated',
  'idle',
] as const;
export type TrustRuleName = (typeof TRUST_RULES)[number];

/** Reasons that limit a score, whatever it has earned. */
export const CEILINGS = ['none', 'not_onboarded', 'time', 'parent', 'composition_changed'] as const;
export type CeilingCause = (typeof CEILINGS)[number];

export const PASSPORT_STATUSES = ['valid', 'suspended', 'revoked', 'superseded'] as const;
export type PassportStatus = (typeof PASSPORT_STATUSES)[number];

/** States of an agent's certificate. */
export const CERTIFICATE_STATUSES = ['good', 'on_hold', 'revoked', 'expired'] as const;
export type CertificateStatus = (typeof CERTIFICATE_STATUSES)[number];

export const ACTION_DECISIONS = ['allowed', 'violation'] as const;
export type ActionDecision = (typeof ACTION_DECISIONS)[number];
export const ACTION_OUTCOMES = ['succeeded', 'failed', 'unknown'] as const;
export type ActionOutcome = (typeof ACTION_OUTCOMES)[number];

export const KILL_MODES = ['suspend', 'revoke'] as const;
export type KillMode = (typeof KILL_MODES)[number];

/** Steps of the kill switch, in the order in which they run for each agent. */
export const KILL_STEPS = [
  'agent_state',
  'passport_status',
  'certificates',
  'api_keys',
  'vault_leases',
  'subscribers',
  'public_verification',
  'linked_iam_apps',
  'vault_lock',
] as const;
export type KillStepName = (typeof KILL_STEPS)[number];
export const STEP_RESULTS = ['completed', 'failed', 'not_available'] as const;
export type StepResult = (typeof STEP_RESULTS)[number];

export const DECOY_SORTS = ['secret', 'tool'] as const;
export type DecoySort = (typeof DECOY_SORTS)[number];

/** Returns the id of the audit stream of an agent. */
export function streamOfAgent(agentId: string): string {
  return `agents/${agentId}`;
}

/** Kinds of certificates. An agent has both: one that every tool can read, and one that resists quantum computers. */
export const CERTIFICATE_KINDS = ['ecdsa', 'ml_dsa_65'] as const;
export type CertificateKind = (typeof CERTIFICATE_KINDS)[number];

/** JWS algorithms (RFC 8037, RFC 9964). A passport has a signature by each. */
export const SIGNATURE_ALGORITHMS = ['EdDSA', 'ML-DSA-65'] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** Reasons of RFC 5280 section 5.3.1 that are used here. */
export type RevocationReason = 'certificateHold' | 'cessationOfOperation' | 'superseded';
