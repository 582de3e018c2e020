import type { CeilingCause, SuspensionCause, TrustRuleName } from '../enums.ts';
import type { TrustLine } from './ledger.ts';
import { EARNED_A_DAY, LOWEST } from './rules.ts';

/** The meaning of each rule, for people. */
export const RULE_TEXTS: Readonly<Record<TrustRuleName, string>> = {
  registered: 'the agent was registered',
  onboarded: 'the agent was onboarded for the first time',
  attested_action: 'an attested action within what the agent is allowed',
  tool_outside: 'a tool that the agent is not allowed',
  api_outside: 'an API that the agent is not allowed',
  malformed_hash: 'a hash that is not 64 hexadecimal digits',
  bad_signature: "a signature that is not by the agent's key over this action",
  attempt_while_suspended: 'an action of an agent that is suspended',
  decoy_used: 'a decoy was used, which nobody has a reason to use',
  composition_changed: 'the agent is composed differently than its passport says',
  held_by_parent: 'no agent is trusted more than the agent that delegates to it',
  reinstated: 'the agent was reinstated, and begins within RESTRICTED',
  idle: "no attested action for a long time: back to the floor of the agent's tier",
};

/** Reasons that hold a score down, for people. */
const CEILING_TEXTS: Readonly<Record<CeilingCause, string>> = {
  none: '100 is the most',
  not_onboarded: 'the agent is not onboarded',
  time: 'promotion takes time as well as points',
  parent: 'no agent is trusted more than the agent that delegates to it',
  composition_changed: 'the agent is composed differently than its passport says, until it is onboarded again',
};

export function ceilingText({ score, because }: { score: number; because: CeilingCause }): string {
  return `The score is ${score} at most: ${CEILING_TEXTS[because]}.`;
}

const SUSPENSION_TEXTS: Readonly<Record<SuspensionCause, string>> = {
  auto: 'The agent is suspended: its score fell to 20 or less.',
  parent: 'The agent is suspended: the score of the agent that delegates to it fell to 20 or less.',
  kill_switch: 'The agent is suspended: somebody used the kill switch.',
};

export function suspensionText(because: SuspensionCause | null): string {
  return because === null ? 'The agent is suspended.' : SUSPENSION_TEXTS[because];
}

/** A plain sentence for a line, and one for what kept it from its points. */
export function reasonsOf({ rule, points, before, after, ceiling, ceiling_because }: TrustLine): string[] {
  const given = after - before;
  const reasons = [`${signed(given)}: ${RULE_TEXTS[rule]}.`];
  if (given !== points)
    reasons.push(
      after === ceiling
        ? ceilingText({ score: ceiling, because: ceiling_because })
        : `The score is ${LOWEST} at least.`,
    );
  return reasons;
}

/** Reasons that an action earned nothing. */
export const EARNS_NOTHING = {
  unattested: "It is recorded and earns nothing: it is not signed by the agent's key.",
  enough_today: `It is recorded and earns nothing: ${EARNED_A_DAY} points were earned today, which is the most.`,
} as const;

function signed(points: number): string {
  return points < 0 ? `−${-points}` : `+${points}`;
}
