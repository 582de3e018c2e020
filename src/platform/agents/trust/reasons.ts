import type { Agent } from '../agent-rows.ts';
import { type CeilingCause, type SuspensionCause, TIERS, type TrustRuleName } from '../enums.ts';
import type { TrustTimes } from '../settings.ts';
import type { TrustLine } from '../wire/trust.ts';
import { type Ceiling, dayOf, EARNED_A_DAY, LOWEST } from './rules.ts';

/** Meaning of each rule, for people. */
const RULE_TEXTS: Readonly<Record<TrustRuleName, string>> = {
  registered: 'the agent was registered',
  onboarded: 'the agent was onboarded for the first time',
  attested_action: 'an attested action that the agent is allowed',
  tool_outside: 'a tool that the agent is not allowed to use',
  api_outside: 'an API that the agent is not allowed to call',
  malformed_hash: 'a hash that is not 64 hexadecimal digits',
  bad_signature: 'an invalid signature',
  attempt_while_suspended: 'an action of a suspended agent',
  decoy_used: 'a decoy was used, which has no legitimate use',
  composition_changed: 'the composition of the agent differs from its passport',
  held_by_parent: 'an agent is never trusted more than the agent that delegates to it',
  reinstated: 'the agent was reinstated, and starts in the tier RESTRICTED',
  idle: 'no attested action for a long time, so the score falls to the lowest score of its tier',
};

/** Reasons that limit a score, for people. */
const CEILING_TEXTS: Readonly<Record<CeilingCause, string>> = {
  none: '100 is the maximum',
  not_onboarded: 'the agent is not onboarded',
  time: 'promotion takes time as well as points',
  parent: 'an agent is never trusted more than the agent that delegates to it',
  composition_changed: 'the composition of the agent differs from its passport; onboard the agent again',
};

export function ceilingText({ score, because }: { score: number; because: CeilingCause }): string {
  return `The score is at most ${score}: ${CEILING_TEXTS[because]}.`;
}

const SUSPENSION_TEXTS: Readonly<Record<SuspensionCause, string>> = {
  auto: 'The agent is suspended because its score fell to 20 or less.',
  parent: 'The agent is suspended because the score of the agent that delegates to it fell to 20 or less.',
  kill_switch: 'The agent is suspended because somebody used the kill switch.',
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
        : `The score is at least ${LOWEST}.`,
    );
  return reasons;
}

/** Reasons why an action earned nothing. */
export const EARNS_NOTHING = {
  unattested: "It is recorded but earns no points: it is not signed with the agent's key.",
  enough_today: `It is recorded but earns no points: the agent has already earned the daily maximum of ${EARNED_A_DAY} points.`,
} as const;

function signed(points: number): string {
  return points < 0 ? `−${-points}` : `+${points}`;
}

/** Returns the steps that would raise an agent's score, and the consequences of taking none. */
export function nextStepsOf(agent: Agent, ceiling: Ceiling, times: TrustTimes): string[] {
  const { state, score, parent_agent_id, due_at } = agent;
  if (state === 'revoked') return ['The agent is permanently revoked: register another one.'];
  if (state === 'suspended')
    return ['Find out why it is suspended, then reinstate it. It starts in the tier RESTRICTED.'];
  const steps: string[] = [];
  if (ceiling.because === 'not_onboarded') steps.push('Onboard it. The first onboarding gives 10 points.');
  if (ceiling.because === 'composition_changed') steps.push('Review what changed, then onboard it again.');
  if (ceiling.because === 'parent')
    steps.push(
      `An agent is never trusted more than the agent that delegates to it, ${parent_agent_id}, so the score is at most ${ceiling.score}.`,
    );
  if (ceiling.until !== null && score >= ceiling.score)
    steps.push(`Wait: the score can rise above ${ceiling.score} from ${dayOf(ceiling.until)}.`);
  if (state === 'active' && score < ceiling.score) steps.push(earning(score));
  if (due_at !== null)
    steps.push(
      `On ${dayOf(due_at)}, the score falls to the lowest of its tier, unless there is an attested action before: ${times.idleDays} days without one are the limit.`,
    );
  return steps;
}

function earning(score: number): string {
  const each = `Sign actions with the agent's key: each allowed action gives a point, at most ${EARNED_A_DAY} a day.`;
  const next = TIERS.findLast(({ from }) => from > score);
  return next === undefined ? each : `${each} ${next.tier} starts at ${next.from}.`;
}
