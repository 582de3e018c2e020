import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { isKnown, sendKnown } from '../../http/etag.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { queryOf } from '../../web/asked.ts';
import { copyable, digest, emptyState, factList, further, moment, statusWord } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { entryPlace } from '../../web/entry-place.ts';
import { filterForm, filterSelect, filtersOf } from '../../web/filters.ts';
import { liveMark, liveRegion } from '../../web/live.ts';
import { withQuery } from '../../web/own-path.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { section } from '../../web/sections.ts';
import { boundToAgent } from '../entries.ts';
import { ACTION_DECISIONS, type ActionDecision, tierOf } from '../enums.ts';
import { actionOperations } from '../operations/actions.ts';
import { type ActionQuery, actionQuerySchema, type WireAction } from '../wire/actions.ts';
import { agentParamsSchema, type WireAgent } from '../wire/agents.ts';
import { actionTable } from './action-table.ts';
import { DECISION_WORDS, decisionWord, RULE_WORDS, trustWord } from './labels.ts';
import { type AgentPageParts, SEES_AGENTS } from './parts.ts';
import { AGENTS_API, aboveAgent, agentIdOf, agentPath, agentsApi } from './paths.ts';

const filterSchema = filtersOf(actionQuerySchema.pick({ decision: true, cursor: true }));

/** Pages of an agent's actions, and of one of them. */
export function actionPages(server: FastifyInstance, parts: AgentPageParts): void {
  listPage(server, parts);
  onePage(server, parts);
}

/** Serves the list of actions. The page refreshes itself if scripts run. */
function listPage(server: FastifyInstance, { service, clock }: AgentPageParts): void {
  const schema = { hide: true, params: agentParamsSchema, querystring: filterSchema };
  server.get('/agents/of/:agent_id/actions', { config: SEES_AGENTS, schema }, async (request, reply) => {
    const id = agentIdOf(request);
    const { decision, cursor } = queryOf<z.output<typeof filterSchema>>(request);
    const now = clock();
    const agent = await service.agents.find(id);
    const { data, next_cursor } = await service.actions.list(id, { decision, cursor, limit: LIST_ROWS });
    const mark = liveMark(data[0]?.entry.sequence ?? 0, now);
    if (isKnown(reply, mark)) return sendKnown(reply);
    const path = agentPath(id, 'actions');
    const empty = decision === undefined ? firstAction(agent, request) : emptyState('No actions match.');
    const list = [actionTable(data, now, empty), further(path, { decision, cursor }, next_cursor)];
    return reply.page({
      title: `Actions of ${agent.name}`,
      above: aboveAgent(agent),
      introduction:
        'Actions as reported. Each is an entry of the audit stream. Signed actions count toward trust; unsigned actions are recorded but earn no points.',
      content: [filters(path, { decision }), liveRegion({ mark, says: sayOf(data), now }, list)],
      api: { path: withQuery(agentsApi(id, 'actions'), { decision }) },
    });
  });
}

function filters(path: string, asked: Pick<ActionQuery, 'decision'>): Markup {
  const wordOf = (decision: ActionDecision) => DECISION_WORDS[decision][1];
  return filterForm(path, asked, filterSelect(asked, ['decision', 'Decision'], ACTION_DECISIONS, wordOf));
}

function sayOf([last]: readonly WireAction[]): string {
  return last === undefined ? 'No actions yet.' : `The last action: ${DECISION_WORDS[last.decision][1]}.`;
}

const EXAMPLE = { action_type: 'tool_call', action_description: 'read the invoice 4711' };

function firstAction({ agent_id, allowed_tools }: WireAgent, request: FastifyRequest): Markup {
  const body = { ...EXAMPLE, tool_used: allowed_tools[0] ?? 'read_file' };
  const command = curlCommand(request, { method: 'POST', path: agentsApi(agent_id, 'actions'), body });
  return emptyState(
    'No actions yet. An agent reports its actions with its own API key:',
    copyable('first-action', 'Report an action, as an API call', command),
  );
}

function onePage(server: FastifyInstance, { service, people, clock }: AgentPageParts): void {
  serveOperationPage(server, actionOperations(service).getAction, {
    path: '/agents/of/:agent_id/actions/:action_id',
    api: AGENTS_API,
    async view(done, { request, params: { agent_id } }) {
      const agent = await service.agents.find(agent_id);
      const call = await namesOfActors(people, [done.reported_by]);
      return {
        title: `Action of ${agent.name}`,
        above: [...aboveAgent(agent), { title: 'Actions', path: agentPath(agent_id, 'actions') }],
        content: [
          judged(done),
          section('Description', markup`<p class="told">${name(done.action_description)}</p>\n`),
          facts(done, call, clock(), request),
          outcome(done, clock(), request),
        ],
      };
    },
  });
}

/** Renders the decision, its reasons, and its effect on the score. */
function judged({ decision, violations, trust: { before, after, reasons } }: WireAction): Markup {
  const score = before === after ? `The score stays ${after}.` : `The score went from ${before} to ${after}.`;
  return markup`<div class="verdict ${decision === 'allowed' ? 'verified' : 'failed'}"><p class="state">${decisionWord(decision)}</p>
${violations.length === 0 ? null : markup`<ul class="prose">${violations.map(({ rule, message }) => markup`<li><strong>${RULE_WORDS[rule]}</strong>: ${name(message)}</li>`)}</ul>\n`}<p>${score} ${trustWord({ tier: tierOf(after), score: after })}</p>
${reasons.length === 0 ? null : markup`<ul class="prose">${reasons.map((each) => markup`<li>${name(each)}</li>`)}</ul>\n`}</div>
`;
}

function facts(done: WireAction, call: NameActor, now: Date, request: FastifyRequest): Markup {
  const { tool_used, api_called, model, version } = done;
  const given = Object.entries({ Tool: tool_used, API: api_called, Model: model, Version: version });
  return factList([
    ['Type', name(done.action_type)],
    ...given.map(([label, value]) => (value === null ? null : ([label, name(value)] as const))),
    ['Input digest', digestCell(done.input_hash)],
    ['Output digest', digestCell(done.output_hash)],
    [
      'Signed',
      done.attested ? statusWord('good', `with its key, ${done.algorithm ?? ''}`) : 'no, so it earns no points',
    ],
    [
      'Reported by',
      done.reported_by === boundToAgent(done.agent_id) ? 'the agent itself' : name(call(done.reported_by)),
    ],
    ['Received', moment(done.received_at, now)],
    ['Recorded as', entryPlace(done.entry, request)],
  ]);
}

/** Renders a digest; other text is shown unchanged. */
function digestCell(text: string | null): Markup {
  return text === null || /^[0-9a-f]{64}$/.test(text) ? digest(text) : markup`<code>${name(text)}</code>`;
}

const OUTCOME_TONES = { succeeded: 'good', failed: 'bad', unknown: 'neutral' } as const;

function outcome({ outcome: said }: WireAction, now: Date, request: FastifyRequest): Markup {
  if (said === null) return section('Outcome', emptyState('The agent has not reported an outcome yet.'));
  const facts = factList([
    ['Outcome', statusWord(OUTCOME_TONES[said.outcome], said.outcome)],
    ['Output digest', digestCell(said.output_hash)],
    ['Reported', moment(said.reported_at, now)],
    ['Recorded as', entryPlace(said.entry, request)],
  ]);
  return section('Outcome', facts);
}
