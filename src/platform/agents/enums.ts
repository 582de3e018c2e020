/**
 * `supervised`: a person looks on. `semi_autonomous`: a person is asked now and then. `autonomous`: nobody is asked.
 */
export const AGENT_TYPES = ['supervised', 'semi_autonomous', 'autonomous'] as const;
export type AgentType = (typeof AGENT_TYPES)[number];

/** `registered`: it has no identity yet. `revoked` is for ever. */
export const AGENT_STATES = ['registered', 'active', 'suspended', 'revoked'] as const;
export type AgentStateName = (typeof AGENT_STATES)[number];

/** Causes of a suspension: its score fell, that of a delegating parent did, or somebody used the kill switch. */
export const SUSPENSION_CAUSES = ['auto', 'parent', 'kill_switch'] as const;
export type SuspensionCause = (typeof SUSPENSION_CAUSES)[number];

/** From the most trusted; `from` is the lowest score of each. */
export const TIERS = [
  { tier: 'VERIFIED', from: 81, meaning: 'Enterprise trusted' },
  { tier: 'TRUSTED', from: 61, meaning: 'Trusted' },
  { tier: 'MONITOR', from: 41, meaning: 'Monitor' },
  { tier: 'RESTRICTED', from: 21, meaning: 'Restricted' },
  { tier: 'AUTO-SUSPENDED', from: 0, meaning: 'Auto-suspended' },
] as const;
export type TrustTier = (typeof TIERS)[number]['tier'];
export const TIER_NAMES = ['VERIFIED', 'TRUSTED', 'MONITOR', 'RESTRICTED', 'AUTO-SUSPENDED'] as const;

/** @param score a whole number from 0 to 100. */
export function tierOf(score: number): TrustTier {
  return TIERS.find(({ from }) => score >= from)?.tier ?? 'AUTO-SUSPENDED';
}

/** Rules that write lines in the ledger of trust. */
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

/** Reasons that hold a score down, whatever it has earned. */
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

/** In the order in which they are done to each agent. */
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

/** The stream of the audit service that has what happens to an agent. */
export function streamOfAgent(agentId: string): string {
  return `agents/${agentId}`;
}

/** An agent has a certificate of each kind: one that every tool reads, and one that outlasts quantum computers. */
export const CERTIFICATE_KINDS = ['ecdsa', 'ml_dsa_65'] as const;
export type CertificateKind = (typeof CERTIFICATE_KINDS)[number];

/** JWS algorithms. A passport has a signature by each (RFC 8037, RFC 9964). */
export const SIGNATURE_ALGORITHMS = ['EdDSA', 'ML-DSA-65'] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** Those of RFC 5280 section 5.3.1 that are in use here. */
export type RevocationReason = 'certificateHold' | 'cessationOfOperation' | 'superseded';
