import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { agree, grouped, plural } from '../../../core/plurals.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, copyable, dataTable, emptyState, further, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { filterField, filterForm, filterSelect, filtersOf } from '../../web/filters.ts';
import { withQuery } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { AGENT_STATES, TIER_NAMES } from '../enums.ts';
import { type AgentStats, agentQuerySchema, type WireAgent } from '../wire/agents.ts';
import { agentStateWords, passportWord, STATE_WORDS, trustWord } from './labels.ts';
import { type AgentPageParts, SEES_AGENTS } from './parts.ts';
import { AGENTS_PATH, agentPath, agentsApi, REGISTER_PATH, SUBSCRIBERS_PATH } from './paths.ts';
import { REGISTRATION_EXAMPLE } from './register.ts';

const filterSchema = filtersOf(agentQuerySchema.omit({ limit: true }));
type Filter = z.output<typeof filterSchema>;

/** Serves the list of agents, with the state of each. */
export function agentsPage(server: FastifyInstance, { service, clock }: AgentPageParts): void {
  servePage(server, {
    path: '/agents',
    access: SEES_AGENTS,
    query: filterSchema,
    async view({ request, query: filter }) {
      const { cursor: _, ...asked } = filter;
      const stats = await service.stats();
      const { data, next_cursor } = await service.agents.list({ ...filter, limit: LIST_ROWS });
      const list = [
        filters(filter),
        agentTable(data, { now: clock(), empty: emptyState('No agents match.') }),
        further(AGENTS_PATH, filter, next_cursor),
      ];
      return {
        title: 'Agents',
        introduction:
          'Every agent has an identity, an audit stream, a trust score and a kill switch. Actions are judged when they are reported; they cannot be prevented.',
        content: [
          ways(stats),
          forWhoMay(request, 'agents:write', () => markup`<p>${action(REGISTER_PATH, 'Register an agent')}</p>\n`),
          stats.agents === 0 ? firstAgent(request) : list,
        ],
        api: { path: withQuery(agentsApi(), asked) },
      };
    },
  });
}

function ways({ agents, states, suspended_passports: passports }: AgentStats): Markup {
  const facts = [
    plural(agents, 'agent'),
    ...(states.suspended === 0
      ? []
      : [`${grouped(states.suspended)} ${agree(states.suspended, 'is', 'are')} suspended`]),
    ...(passports === 0 ? [] : [`${plural(passports, 'passport')} ${agree(passports, 'is', 'are')} suspended`]),
  ];
  return markup`<p>${facts.join(', ')}. ${link(SUBSCRIBERS_PATH, 'Subscribers')}</p>
`;
}

function filters({ q, state, tier }: Filter): Markup {
  return filterForm(AGENTS_PATH, { q, state, tier }, [
    filterField({ name: 'q', label: 'Name', value: q }),
    filterSelect({ state }, ['state', 'Status'], AGENT_STATES, (value) => STATE_WORDS[value][1]),
    filterSelect({ tier }, ['tier', 'Tier'], TIER_NAMES),
  ]);
}

/** Renders agents as rows. */
function agentTable(agents: readonly WireAgent[], { now, empty }: { now: Date; empty: Markup }): Markup {
  return dataTable<WireAgent>({
    caption: 'Agents',
    columns: [
      { head: 'Agent', kind: 'name', cell: ({ agent_id, name }) => link(agentPath(agent_id), name) },
      { head: 'Status', cell: agentStateWords },
      { head: 'Trust', kind: 'short', cell: trustWord },
      { head: 'Passport', cell: passportWord },
      { head: 'Model', cell: ({ model, version }) => modelCell(model, version) },
      { head: 'Registered', cell: ({ registered_at }) => moment(registered_at, now) },
    ],
    rows: agents,
    empty,
  });
}

function modelCell(model: string, version: string): Markup {
  return markup`${name(model)} <span class="minor">agent ${name(version)}</span>`;
}

function firstAgent(request: FastifyRequest): Markup {
  const command = curlCommand(request, { method: 'POST', path: agentsApi(), body: REGISTRATION_EXAMPLE });
  const text = 'No agents are registered yet. Register one here or with the API:';
  return emptyState(text, copyable('first-agent', 'Register an agent, as an API call', command));
}
