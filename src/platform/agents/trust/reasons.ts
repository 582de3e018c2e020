import type { Agent } from '../agent-rows.ts';
import { type CeilingCause, type SuspensionCause, TIERS, type TrustRuleName } from '../enums.ts';
import type { TrustTimes } from '../settings.ts';
import type { TrustLine } from '../wire/trust.ts';
import { type Ceiling, dayOf, EARNED_A_DAY, LOWEST } from './rules.ts';

/** Meaning of each rule, for people. */
const RULE_TEXTS: Readonly<Record<TrustRuleName, string>> = {
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

/** Reasons that limit a score, for people. */
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

/** Returns a sentence for a line, and one for the reason if the points were not given in full. */
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

/** Reasons why an action earned nothing. */
export const EARNS_NOTHING = {
  unattested: "It is recorded and earns nothing: it is not signed by the agent's key.",
  enough_today: `It is recorded and earns nothing: ${EARNED_A_DAY} points were earned today, which is the most.`,
} as const;

function signed(points: number): string {
  return points < 0 ? `−${-points}` : `+${points}`;
}

/** Returns the steps that would raise an agent's score, and the consequences of taking none. */
export function nextStepsOf(agent: Agent, ceiling: Ceiling, times: TrustTimes): string[] {
  const { state, score, parent_agent_id, due_at } = agent;
  if (state === 'revoked') return ['The agent is revoked, for ever: register another one.'];
  if (state === 'suspended') return ['Find out why it is suspended, then reinstate it. It begins within RESTRICTED.'];
  const steps: string[] = [];
  if (ceiling.because === 'not_onboarded') steps.push('Onboard it. The first time gives 10 points.');
  if (ceiling.because === 'composition_changed') steps.push('Look at what changed, then onboard it again.');
  if (ceiling.because === 'parent')
    steps.push(
      `No agent is trusted more than the agent that delegates to it, ${parent_agent_id}: it is held at ${ceiling.score}.`,
    );
  if (ceiling.until !== null && score >= ceiling.score)
    steps.push(`Wait: the score can rise above ${ceiling.score} from ${dayOf(ceiling.until)} on.`);
  if (state === 'active' && score < ceiling.score) steps.push(earning(score));
  if (due_at !== null)
    steps.push(
      `Without an attested action for ${times.idleDays} days, on ${dayOf(due_at)}, the score falls to the floor of its tier.`,
    );
  return steps;
}

function earning(score: number): string {
  const each = `Sign actions with the agent's key: each one within what it is allowed gives a point, ${EARNED_A_DAY} a day at most.`;
  const next = TIERS.findLast(({ from }) => from > score);
  return next === undefined ? each : `${each} ${next.tier} begins at ${next.from}.`;
}
