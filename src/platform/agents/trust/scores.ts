import type { Database } from '../../database/database.ts';
import { fromCursor, pageOf, toCursor } from '../../http/cursor.ts';
import type { PageQuery } from '../../http/fields.ts';
import { violationsOf } from '../actions/judging.ts';
import { type Agent, findAgent } from '../agent-rows.ts';
import type { AgentServiceDeps } from '../deps.ts';
import { TIERS, type TrustRuleName } from '../enums.ts';
import type { Simulated, Simulation, TrustLine, TrustScore, WireTrustLine } from '../wire/trust.ts';
import { type StepDeps, stepOf, type TrustStanding } from './ledger.ts';
import { ceilingText, EARNS_NOTHING, nextStepsOf, reasonsOf, suspensionText } from './reasons.ts';
import { type Ceiling, ceilingOf, SUSPENDED_AT } from './rules.ts';
import { ledgerLinesOf, trustFactorsOf } from './trust-rows.ts';

/** Scores of agents, their reasons and simulated changes, for routes and pages. */
export class TrustScores {
  readonly #database: Database;
  readonly #deps: Pick<AgentServiceDeps, 'clock' | 'trustTimes'>;

  constructor(deps: Pick<AgentServiceDeps, 'database' | 'clock' | 'trustTimes'>) {
    this.#database = deps.database;
    this.#deps = deps;
  }

  /** @throws DomainError `not_found`. */
  async score(agentId: string): Promise<TrustScore> {
    const agent = await findAgent(this.#database, agentId);
    const { agent_id, score, tier, state } = agent;
    const deps = await this.#stepDeps(agent);
    const ceiling = ceilingOf({ ...agent, parentScore: deps.parentScore }, deps.now, deps.times);
    return {
      agent_id,
      score,
      tier,
      meaning: TIERS.find((each) => each.tier === tier)?.meaning ?? '',
      state,
      ceiling: ceiling.score,
      ceiling_because: ceiling.because,
      ceiling_until: ceiling.until,
      why: whyOf(agent, ceiling),
      factors: await trustFactorsOf(this.#database, agent),
      next_steps: nextStepsOf(agent, ceiling, deps.times),
    };
  }

  /** Lists the lines, newest first. @throws DomainError `not_found`, `invalid_cursor`. */
  async history(agentId: string, { limit, cursor }: PageQuery) {
    const agent = await findAgent(this.#database, agentId);
    const before = cursor === undefined ? undefined : fromCursor('trust', ['number'], cursor)[0];
    const lines = await ledgerLinesOf(this.#database, agent, { limit: limit + 1, before });
    const { page, next_cursor } = pageOf(lines, limit, (last) => toCursor('trust', [last.entry_no]));
    return { data: page.map(lineToWire), next_cursor };
  }

  /**
   * Computes the effect of rules, or of an action, on an agent now, without recording or changing anything.
   * @throws DomainError `not_found`.
   */
  async simulate(agentId: string, { rules, action }: Simulation): Promise<Simulated> {
    const agent = await findAgent(this.#database, agentId);
    const asked = rules ?? rulesOf(agent, action ?? { attested: false });
    const deps = await this.#stepDeps(agent);
    const reasons: string[] = asked.length === 0 ? [EARNS_NOTHING.unattested] : [];
    const lines: TrustLine[] = [];
    let standing: TrustStanding = agent;
    let isSuspended = agent.state === 'suspended';
    for (const rule of asked) {
      const step = stepOf(standing, { rule }, deps);
      standing = step.standing;
      reasons.push(...step.reasons);
      if (step.line !== null) lines.push(step.line);
      isSuspended = rule === 'reinstated' ? false : isSuspended || standing.score <= SUSPENDED_AT;
    }
    const { score: after, tier } = standing;
    return {
      before: agent.score,
      after,
      tier,
      state: stateOf(agent, isSuspended),
      lines: lines.map(lineToWire),
      reasons,
    };
  }

  async #stepDeps({ parent_agent_id }: Agent): Promise<StepDeps> {
    const { clock, trustTimes: times } = this.#deps;
    const parent = parent_agent_id === null ? null : await findAgent(this.#database, parent_agent_id);
    return { now: clock(), times, parentScore: parent?.score ?? null };
  }
}

function whyOf({ score, tier, state, suspended_because }: Agent, ceiling: Ceiling): string {
  const stands = `${score} of 100 is ${tier}.`;
  const held = ceiling.because === 'none' ? '' : ` ${ceilingText(ceiling)}`;
  return state === 'suspended' ? `${stands} ${suspensionText(suspended_because)}${held}` : `${stands}${held}`;
}

/** Returns the rules that an action would trigger. */
function rulesOf(agent: Agent, { attested, ...action }: NonNullable<Simulation['action']>): TrustRuleName[] {
  if (agent.state === 'suspended') return ['attempt_while_suspended'];
  const violations = violationsOf(agent, action, { badSignature: null, decoy: null }).map(({ rule }) => rule);
  if (violations.length > 0) return violations;
  return attested ? ['attested_action'] : [];
}

function stateOf({ state, onboarded_at }: Agent, isSuspended: boolean): Agent['state'] {
  if (state === 'revoked') return state;
  if (isSuspended) return 'suspended';
  return onboarded_at === null ? 'registered' : 'active';
}

function lineToWire(line: TrustLine): WireTrustLine {
  return { ...line, reason: reasonsOf(line).join(' ') };
}
