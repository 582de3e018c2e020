import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, type MarkupContent, markup, name } from '../../../core/html/markup.ts';
import { plural } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { forWhoMay } from '../../web/asked.ts';
import {
  action,
  copyable,
  dataTable,
  digest,
  emptyState,
  factList,
  link,
  moment,
  statusWord,
} from '../../web/components.ts';
import type { PageView } from '../../web/layout.ts';
import { apiOrigin } from '../../web/origin.ts';
import { withQuery } from '../../web/own-path.ts';
import { SHORT_ROWS } from '../../web/rows.ts';
import { actsFor, section } from '../../web/sections.ts';
import { agentOperations } from '../operations/agents.ts';
import type { AgentService } from '../service.ts';
import type { WireAgent } from '../wire/agents.ts';
import { actionTable } from './action-table.ts';
import { killTable } from './kill.ts';
import { AGENT_TYPE_WORDS, agentStateWords, passportWord, STATE_WORDS, trustWord } from './labels.ts';
import type { AgentPageParts } from './parts.ts';
import { ABOVE_AGENTS, AGENTS_API, agentPath, agentStreamPath, publicApi, REGISTER_PATH } from './paths.ts';
import { trustFacts } from './trust.ts';
import { vaultOf } from './vault.ts';

/** Serves the page of an agent: its facts, whether it may act, its trust, and its actions. */
export function agentPage(server: FastifyInstance, { service, people, clock }: AgentPageParts): void {
  serveOperationPage(server, agentOperations(service).getAgent, {
    path: '/agents/of/:agent_id',
    api: AGENTS_API,
    async view(agent, { request, params: { agent_id: id } }) {
      const now = clock();
      const trust = await service.trust.score(id);
      const actions = await service.actions.list(id, { limit: SHORT_ROWS });
      const kills = await service.kill.list(id, { limit: SHORT_ROWS });
      const call = await namesOfActors(people, [agent.registered_by]);
      const { wrong, ...introduction } = standing(agent);
      return {
        title: agent.name,
        above: ABOVE_AGENTS,
        ...introduction,
        content: [
          wrong,
          facts(agent, call, now, request),
          acts(agent, request),
          allowances(agent),
          section('Trust', trustFacts(trust), link(agentPath(id, 'trust'), 'History of the score')),
          section('Latest actions', actionTable(actions.data, now), link(agentPath(id, 'actions'), 'All actions')),
          identitySection(agent, now, request),
          await forWriters(request, () => vaultOf(service, agent, now, request)),
          await familyOf(service, agent),
          kills.data.length === 0
            ? null
            : section('Kill switch', killTable(kills.data, now), link(agentPath(id, 'kills'), 'All uses')),
        ],
      };
    },
  });
}

/** Returns the most important state: that the agent may not act, or differs from its passport. */
function standing({
  state,
  composition,
  message,
}: WireAgent): Pick<PageView, 'introduction'> & { wrong: Markup | null } {
  const isStopped = state === 'suspended' || state === 'revoked';
  if (!isStopped && composition.changed_at === null) return { introduction: message, wrong: null };
  const more = isStopped ? ' Its reports are refused and recorded.' : '';
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
    onboarded_at === null ? null : ['First onboarded', moment(onboarded_at, now)],
    ['ID', markup`<code>${agent_id}</code>`],
    stream && ['Recorded in', stream],
    ['Public verification', markup`<code>${name(publicUrl)}</code>`],
  ]);
}

function acts(agent: WireAgent, request: FastifyRequest): Markup | null {
  const { agent_id, state, composition, identity } = agent;
  if (state === 'revoked') return null;
  const act = (path: string, words: string, weight: 'main' | 'quiet' = 'quiet') =>
    action(agentPath(agent_id, path), words, weight);
  const isNew = identity === null || composition.changed_at !== null;
  const below = withQuery(REGISTER_PATH, { parent_agent_id: agent_id });
  return actsFor(request, 'agents:write', [
    isNew && state !== 'suspended' ? act('onboard', identity === null ? 'Onboard' : 'Onboard again', 'main') : null,
    state === 'suspended' ? act('reinstate', 'Reinstate', 'main') : null,
    act('change', 'Change'),
    state === 'active' ? action(below, 'Register a child agent', 'quiet') : null,
    act('simulate', 'Simulate'),
    act('kill', 'Kill switch'),
  ]);
}

function allowances({ allowed_tools, allowed_apis }: WireAgent): Markup {
  const list = (names: readonly string[], what: string): MarkupContent =>
    names.length === 0
      ? markup`<span class="minor">none, so using any ${what} is a violation</span>`
      : markup`<ul class="words">${names.map((each) => markup`<li><code>${name(each)}</code></li>`)}</ul>`;
  const facts = factList([
    [plural(allowed_tools.length, 'tool'), list(allowed_tools, 'tool')],
    [plural(allowed_apis.length, 'API'), list(allowed_apis, 'API')],
  ]);
  return section('Allowances', facts);
}

async function forWriters(request: FastifyRequest, content: () => Promise<Markup>): Promise<Markup | null> {
  return request.person?.scopes.includes('agents:write') === true ? content() : null;
}

/** Renders the agent that delegates to an agent, and those to which it delegates; null if there are none. */
async function familyOf({ agents }: AgentService, agent: WireAgent): Promise<Markup | null> {
  const { parent_agent_id, children } = agent;
  if (parent_agent_id === null && children.length === 0) return null;
  const parent = parent_agent_id === null ? null : await agents.find(parent_agent_id);
  const held =
    parent &&
    markup`<p>${link(agentPath(parent.agent_id), parent.name)} delegates to this agent, whose score never exceeds the score of that agent, ${parent.score}.</p>\n`;
  return section('Delegation', [held, childTable(children)]);
}

function childTable(children: WireAgent['children']): Markup | null {
  if (children.length === 0) return null;
  return dataTable<WireAgent['children'][number]>({
    caption: 'Agents that it delegates to',
    columns: [
      { head: 'Delegates to', kind: 'name', cell: ({ agent_id, name }) => link(agentPath(agent_id), name) },
      { head: 'Status', cell: ({ state }) => statusWord(...STATE_WORDS[state]) },
      { head: 'Trust', cell: trustWord },
    ],
    rows: children,
    empty: emptyState('No agents.'),
  });
}

/** Renders the cryptographic identity of an agent: its certificates and passport, and their statements. */
function identitySection(agent: WireAgent, now: Date, request: FastifyRequest): Markup {
  const { identity, composition } = agent;
  if (identity === null)
    return section(
      'Identity',
      emptyState('No identity yet. Onboarding issues keys, two certificates, a vault and a passport.'),
    );
  const { did, certificate, passport, issued_at } = identity;
  const isSame = identity.composition === composition.sha256;
  const facts = factList([
    ['Identity', markup`<code>${name(did)}</code>`],
    ['Passport', passportWord(agent)],
    ['Passport status since', moment(passport.status_changed_at, now)],
    ['Passport ID', markup`<code>${name(passport.jti)}</code>`],
    ['Issued', moment(issued_at, now)],
    ['Certificates valid until', moment(certificate.not_after, now)],
    ['Serial, ECDSA P-256', markup`<code>${name(certificate.serial)}</code>`],
    ['Serial, ML-DSA-65', markup`<code>${name(certificate.pq.serial)}</code>`],
    ['Current composition', digest(composition.sha256)],
    [
      'Composition in its passport',
      isSame
        ? SAME[composition.changed_at === null ? 'still' : 'seen']
        : markup`${digest(identity.composition)}, different`,
    ],
  ]);
  return section('Identity', [
    facts,
    details('certificate', 'Certificate, ECDSA P-256', certificate.pem),
    details('certificate-pq', 'Certificate, ML-DSA-65', certificate.pq.pem),
    details('passport', 'Passport', passport.jws),
    authorities(request),
  ]);
}

/**
 * Words for a composition that matches; an action that specifies another model or version does not change the
 * registered one.
 */
const SAME = { still: 'the same', seen: 'the same, but an action named another model or version' };

function details(id: string, words: string, text: string): Markup {
  return markup`<details class="numbers"><summary>${words}</summary>${copyable(id, words, text)}</details>\n`;
}

/** Renders the documents with which a third party can check all of this without the platform. */
function authorities(request: FastifyRequest): Markup {
  const at = (...path: string[]) => `${apiOrigin(request)}${publicApi(...path)}`;
  const each = [
    ['CA certificate, ECDSA P-256', at('ca', 'ecdsa.pem')],
    ['CA certificate, ML-DSA-65', at('ca', 'ml-dsa-65.pem')],
    ['revocation list, ECDSA P-256', at('crl', 'ecdsa.crl')],
    ['revocation list, ML-DSA-65', at('crl', 'ml-dsa-65.crl')],
    ['status list', at('status-list')],
    ['signing keys', at('jwks.json')],
  ] as const;
  return markup`<p class="minor">To verify it without this platform: ${each.map(([words, path], index) => markup`${index === 0 ? '' : ' · '}${link(path, words)}`)}</p>
`;
}
