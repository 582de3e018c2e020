import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { type StatusTone, statusWord } from '../../web/components.ts';
import type {
  ActionDecision,
  AgentStateName,
  AgentType,
  CeilingCause,
  KillMode,
  KillStepName,
  PassportStatus,
  StepResult,
  TrustRuleName,
  TrustTier,
} from '../enums.ts';
import type { WireAgent } from '../wire/agents.ts';

export const AGENT_TYPE_WORDS: Record<AgentType, string> = {
  supervised: 'supervised: a person watches',
  semi_autonomous: 'semi-autonomous: a person approves some actions',
  autonomous: 'autonomous: nobody approves actions',
};

export const STATE_WORDS: Record<AgentStateName, readonly [StatusTone, string]> = {
  registered: ['neutral', 'not onboarded'],
  active: ['good', 'active'],
  suspended: ['bad', 'suspended'],
  revoked: ['bad', 'revoked'],
};

export const TIER_TONES: Record<TrustTier, StatusTone> = {
  VERIFIED: 'good',
  TRUSTED: 'good',
  MONITOR: 'neutral',
  RESTRICTED: 'warning',
  'AUTO-SUSPENDED': 'bad',
};

/** Renders a tier with its score. */
export function trustWord({ tier, score }: { tier: TrustTier; score: number }): Markup {
  return markup`${statusWord(TIER_TONES[tier], tier)} <span class="minor">${grouped(score)} of 100</span>`;
}

const PASSPORT_WORDS: Record<PassportStatus, readonly [StatusTone, string]> = {
  valid: ['good', 'valid'],
  suspended: ['bad', 'suspended'],
  revoked: ['bad', 'revoked'],
  superseded: ['neutral', 'replaced'],
};

export function passportWord({ identity }: Pick<WireAgent, 'identity'>): Markup {
  if (identity === null) return markup`<span class="minor">none yet</span>`;
  return statusWord(...PASSPORT_WORDS[identity.passport.status]);
}

/** Renders the states of an agent that matter most. */
export function agentStateWords({ state, composition }: Pick<WireAgent, 'state' | 'composition'>): Markup {
  const words = [
    statusWord(...STATE_WORDS[state]),
    ...(composition.changed_at === null ? [] : [statusWord('warning', 'composition changed')]),
  ];
  return markup`<ul class="words">${words.map((word) => markup`<li>${word}</li>`)}</ul>`;
}

/** Meaning of each rule. */
export const RULE_WORDS: Record<TrustRuleName, string> = {
  registered: 'registered',
  onboarded: 'onboarded',
  attested_action: 'attested compliant action',
  tool_outside: 'tool outside its list',
  api_outside: 'API outside its list',
  malformed_hash: 'malformed hash',
  bad_signature: 'bad signature',
  attempt_while_suspended: 'attempt while suspended',
  decoy_used: 'decoy used',
  composition_changed: 'composition changed',
  held_by_parent: 'limited by its parent',
  reinstated: 'reinstated',
  idle: 'idle for too long',
};

/** Returns points with their sign. */
export function signedPoints(points: number): string {
  return points > 0 ? `+${points}` : String(points).replace('-', '−');
}

/** Reasons that limit a score. */
export const CEILING_WORDS: Record<CeilingCause, string> = {
  none: 'nothing',
  not_onboarded: 'not onboarded',
  time: 'promotion takes time',
  parent: 'never above its parent',
  composition_changed: 'composition changed',
};

export const DECISION_WORDS: Record<ActionDecision, readonly [StatusTone, string]> = {
  allowed: ['good', 'allowed'],
  violation: ['bad', 'violation'],
};

export function decisionWord(decision: ActionDecision): Markup {
  return statusWord(...DECISION_WORDS[decision]);
}

export const MODE_WORDS: Record<KillMode, { word: string; done: string }> = {
  suspend: { word: 'suspend', done: 'suspended' },
  revoke: { word: 'revoke', done: 'revoked' },
};

export const STEP_WORDS: Record<KillStepName, string> = {
  agent_state: 'Agent',
  passport_status: 'Passport',
  certificates: 'Certificates',
  api_keys: 'API keys',
  vault_leases: 'Vault leases',
  subscribers: 'Subscribers',
  public_verification: 'Public verification',
  linked_iam_apps: 'Linked IAM apps',
  vault_lock: 'Vault lock',
};

const RESULT_WORDS: Record<StepResult, readonly [StatusTone, string]> = {
  completed: ['good', 'completed'],
  failed: ['bad', 'failed'],
  not_available: ['neutral', 'not available'],
};

/** @param result null while the step has not ended. */
export function resultWord(result: StepResult | null): Markup {
  return statusWord(...(result === null ? (['warning', 'not finished'] as const) : RESULT_WORDS[result]));
}
