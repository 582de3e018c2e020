import type { Agent } from '../agent-rows.ts';
import { TIERS } from '../enums.ts';
import type { TrustTimes } from '../settings.ts';
import { type Ceiling, dayOf, EARNED_A_DAY } from './rules.ts';

/** Steps that would raise an agent's score, and the consequences without them. */
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
