import { markup, name } from '../../../core/html/markup.ts';
import { agree, grouped, plural } from '../../../core/plurals.ts';
import { factList, link, moment, momentOr, type StatusTone, type TileView } from '../../web/components.ts';
import type { OverviewOfModule, TimelineEvent } from '../../web/overview.ts';
import { withQuery } from '../../web/own-path.ts';
import type { AgentIncident } from '../overview.ts';
import type { AgentStats } from '../wire/agents.ts';
import { MODE_WORDS } from './labels.ts';
import type { AgentPageParts } from './parts.ts';
import { AGENTS_PATH, actionPath, agentPath, killPath, REGISTER_PATH } from './paths.ts';

const MOST = 30;

/** Summarizes all agents and the latest events. */
export async function agentsOverview({ service, clock }: AgentPageParts): Promise<OverviewOfModule> {
  const stats = await service.stats();
  const incidents = await service.lately.list(MOST);
  return { tile: tileOf(stats, clock()), events: incidents.map(eventOf) };
}

function tileOf(stats: AgentStats, now: Date): TileView {
  const { wrong_since, last_action_at } = stats;
  return {
    title: 'Agent identity',
    ...verdictOf(stats),
    content: factList([
      ['What', what(stats)],
      ['Since', wrong_since === null ? 'no known problems' : moment(wrong_since, now)],
      ['Last reported action', momentOr(last_action_at, now, 'never')],
    ]),
  };
}

/** Returns the verdict, worst first. */
function verdictOf(stats: AgentStats): Pick<TileView, 'tone' | 'word' | 'next'> {
  const { agents, states, suspended_passports, unfinished_kills, violations_24h } = stats;
  const at = (title: string, path: string) => ({ title, path });
  const suspended = at('See which', withQuery(AGENTS_PATH, { state: 'suspended' }));
  const all = at('See the agents', AGENTS_PATH);
  if (unfinished_kills > 0) return { tone: 'bad', word: 'The kill switch is still running', next: suspended };
  if (states.suspended > 0) return { tone: 'bad', word: 'Agents are suspended', next: suspended };
  if (suspended_passports > 0) return { tone: 'bad', word: 'Agents differ from their passports', next: all };
  if (violations_24h > 0) return { tone: 'warning', word: 'Agents exceeded their rights', next: all };
  if (agents === 0)
    return { tone: 'neutral', word: 'No agents are registered yet', next: at('Register one', REGISTER_PATH) };
  if (states.active === 0) return { tone: 'neutral', word: 'No agents are active', next: all };
  return { tone: 'good', word: 'Agents act within their rights', next: all };
}

function what({ agents, states, suspended_passports, actions_24h, violations_24h }: AgentStats): string {
  const facts = [
    ...(states.suspended === 0 ? [] : [`${plural(states.suspended, 'agent')} suspended`]),
    ...(suspended_passports === 0 ? [] : [`${plural(suspended_passports, 'passport')} suspended`]),
    ...(violations_24h === 0 ? [] : [`${plural(violations_24h, 'violation')} in 24 hours`]),
    ...(agents === 0 ? ['no agents'] : [`${grouped(states.active)} active ${agree(states.active, 'agent', 'agents')}`]),
    ...(actions_24h === 0 ? [] : [`${plural(actions_24h, 'action')} in 24 hours`]),
  ];
  return facts.join('; ');
}

const TONES: Record<AgentIncident['kind'], StatusTone> = {
  violation: 'warning',
  kill: 'bad',
  suspended: 'bad',
  composition_changed: 'bad',
};

function eventOf(incident: AgentIncident): TimelineEvent {
  const { agent_id, name: agentName, at, kind } = incident;
  const agent = link(agentPath(agent_id), agentName);
  return { at, tone: TONES[kind], words: markup`${agent}: ${wordsOf(incident)}` };
}

function wordsOf(incident: AgentIncident) {
  const { agent_id } = incident;
  switch (incident.kind) {
    case 'violation':
      return markup`${link(actionPath(agent_id, incident.action_id), 'an action was a violation')}. ${name(incident.reasons.join(' '))}`;
    case 'kill':
      return markup`${link(killPath(agent_id, incident.kill_id), `${MODE_WORDS[incident.mode].done} by the kill switch`)}.`;
    case 'suspended':
      return incident.because === 'parent'
        ? 'suspended with the agent that delegates to it.'
        : 'suspended because its score fell to 20 or less.';
    case 'composition_changed':
      return 'differs from its passport.';
  }
}
