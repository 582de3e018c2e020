import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, type MarkupContent, markup, name } from '../../../core/html/markup.ts';
import { plural } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/people.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, asCurl, factList, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import type { PageView } from '../../web/layout.ts';
import { apiOrigin } from '../../web/origin.ts';
import { withQuery } from '../../web/own-path.ts';
import { SHORT_ROWS } from '../../web/rows.ts';
import type { WireAgent } from '../wire/agents.ts';
import { agentParamsSchema } from '../wire/parts.ts';
import { actionTable } from './action-table.ts';
import { familyOf } from './family.ts';
import { identitySection } from './identity.ts';
import { killTable } from './kill.ts';
import { AGENT_TYPE_WORDS, agentStateWords } from './labels.ts';
import { type AgentPageParts, SEES_AGENTS } from './parts.ts';
import { ABOVE_AGENTS, agentIdOf, agentPath, agentStreamPath, agentsApi, publicApi, REGISTER_PATH } from './paths.ts';
import { trustFacts } from './trust.ts';
import { vaultOf } from './vault.ts';

/** An agent: what it is, whether it may act, how far it is trusted, and what it did. */
export function agentPage(server: FastifyInstance, { service, people, clock }: AgentPageParts): void {
  const options = { config: SEES_AGENTS, schema: { hide: true, params: agentParamsSchema } } as const;
  server.get('/agents/of/:agent_id', options, async (request, reply) => {
    const id = agentIdOf(request);
    const now = clock();
    const agent = await service.agents.find(id);
    const trust = await service.trust.score(id);
    const actions = await service.actions.list(id, { limit: SHORT_ROWS });
    const kills = await service.kill.list(id, { limit: SHORT_ROWS });
    const call = await namesOfActors(people, [agent.registered_by]);
    const { wrong, ...introduction } = standing(agent);
    return reply.page({
      title: agent.name,
      above: ABOVE_AGENTS,
      ...introduction,
      content: [
        wrong,
        facts(agent, call, now, request),
        acts(agent, request),
        allowances(agent),
        section('Trust', trustFacts(trust), link(agentPath(id, 'trust'), 'How its score came about')),
        section('What it did last', actionTable(actions.data, now), link(agentPath(id, 'actions'), 'All its actions')),
        identitySection(agent, now, request),
        await forWriters(request, () => vaultOf(service, agent, now, request)),
        await familyOf(service, agent),
        kills.data.length === 0
          ? null
          : section('Kill switch', killTable(kills.data, now), link(agentPath(id, 'kills'), 'All its uses')),
        asCurl('curl', curlCommand(request, { path: agentsApi(id) })),
      ],
    });
  });
}

/** The first thing to see: that it may not act, or is another one than its passport says. */
function standing({
  state,
  composition,
  message,
}: WireAgent): Pick<PageView, 'introduction'> & { wrong: Markup | null } {
  const isStopped = state === 'suspended' || state === 'revoked';
  if (!isStopped && composition.changed_at === null) return { introduction: message, wrong: null };
  const more = isStopped ? ' What it reports is refused and recorded.' : '';
  return { wrong: markup`<p class="refusal">${message}${more}</p>\n` };
}

function facts(agent: WireAgent, call: NameActor, now: Date, request: FastifyRequest): Markup {
  const { agent_id, agent_type, registered_at, registered_by, onboarded_at } = agent;
  const publicUrl = apiOrigin(request) + publicApi('verify-agent', agent_id);
  const stream = forWhoMay(request, 'audit:read', () => link(agentStreamPath(agent_id), 'its audit stream'));
  return factList([
    ['Status', agentStateWords(agent)],
    ['Type', AGENT_TYPE_WORDS[agent_type]],
    ['Model', name(agent.model)],
    ['Version', name(agent.version)],
    ['Registered', markup`${name(call(registered_by))}, ${moment(registered_at, now)}`],
    ...(onboarded_at === null ? [] : [['Onboarded first', moment(onboarded_at, now)] as const]),
    ['Id', markup`<code>${agent_id}</code>`],
    ...(stream === null ? [] : [['Recorded in', stream] as const]),
    ['Anybody can verify it at', markup`<code>${name(publicUrl)}</code>`],
  ]);
}

function acts(agent: WireAgent, request: FastifyRequest): Markup | null {
  const { agent_id, state, composition, identity } = agent;
  if (state === 'revoked') return null;
  const act = (path: string, words: string, weight: 'main' | 'quiet' = 'quiet') =>
    action(agentPath(agent_id, path), words, weight);
  const isNew = identity === null || composition.changed_at !== null;
  return forWhoMay(
    request,
    'agents:write',
    () =>
      markup`<p class="acts">${[
        isNew && state !== 'suspended'
          ? act('onboard', identity === null ? 'Onboard it' : 'Onboard it again', 'main')
          : null,
        state === 'suspended' ? act('reinstate', 'Reinstate it', 'main') : null,
        act('change', 'Change it'),
        state === 'active'
          ? action(withQuery(REGISTER_PATH, { parent_agent_id: agent_id }), 'Register an agent below it', 'quiet')
          : null,
        act('simulate', 'What would happen'),
        act('kill', 'Kill switch'),
      ]}</p>\n`,
  );
}

function allowances({ allowed_tools, allowed_apis }: WireAgent): Markup {
  const list = (names: readonly string[], what: string): MarkupContent =>
    names.length === 0
      ? markup`<span class="minor">none: every ${what} is a violation</span>`
      : markup`<ul class="words">${names.map((each) => markup`<li><code>${name(each)}</code></li>`)}</ul>`;
  return markup`<h2>What it may do</h2>
${factList([
  [plural(allowed_tools.length, 'tool'), list(allowed_tools, 'tool')],
  [plural(allowed_apis.length, 'API'), list(allowed_apis, 'API')],
])}`;
}

export function section(title: string, content: MarkupContent, all: Markup): Markup {
  return markup`<h2>${title}</h2>
${content}<p class="further">${all}</p>
`;
}

async function forWriters(request: FastifyRequest, content: () => Promise<Markup>): Promise<Markup | null> {
  return request.person?.scopes.includes('agents:write') === true ? content() : null;
}
