import type { FastifyInstance } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { action, dataTable, emptyState, factList, further, link, moment } from '../../web/components.ts';
import { cursorSchema } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { section } from '../../web/sections.ts';
import { tierOf } from '../enums.ts';
import { agentOperations } from '../operations/agents.ts';
import type { TrustScore, WireTrustLine } from '../wire/trust.ts';
import { CEILING_WORDS, RULE_WORDS, signedPoints, trustWord } from './labels.ts';
import type { AgentPageParts } from './parts.ts';
import { AGENTS_API, aboveAgent, actionPath, agentPath, agentsApi } from './paths.ts';
import { scoreChart } from './score-chart.ts';

/** Number of lines on one page, which the chart also draws. */
const CHART_LINES = 2 * LIST_ROWS;

/** Serves the history of an agent's score: as a chart, and as the lines of the chart. */
export function trustPage(server: FastifyInstance, { service, clock }: AgentPageParts): void {
  serveOperationPage(server, agentOperations(service).getAgent, {
    path: '/agents/of/:agent_id/trust',
    api: AGENTS_API,
    query: cursorSchema,
    async view(agent, { params: { agent_id: id }, query: { cursor } }) {
      const trust = await service.trust.score(id);
      const { data, next_cursor } = await service.trust.history(id, { limit: CHART_LINES, cursor });
      const now = clock();
      const until = cursor === undefined ? now.toISOString() : (data[0]?.at ?? '');
      const path = agentPath(id, 'trust');
      return {
        title: `Trust in ${agent.name}`,
        above: aboveAgent(agent),
        introduction: 'The score is computed from the lines of the ledger. Nobody can set it.',
        content: [
          cursor === undefined ? trustFacts(trust) : markup`<p>${link(path, 'Newest lines')}</p>\n`,
          cursor === undefined
            ? markup`<p class="acts">${action(agentPath(id, 'simulate'), 'Simulate', 'quiet')}</p>\n`
            : null,
          section('History', [scoreChart({ lines: data.toReversed(), until }), lineTable(id, data, now)]),
          further(path, { cursor }, next_cursor),
          cursor === undefined ? factorsOf(trust) : null,
        ],
        api: { path: agentsApi(id, 'trust-score', 'history') },
      };
    },
  });
}

/** Renders the trust in an agent, the reasons that limit it, and the steps that would raise it. */
export function trustFacts(trust: TrustScore): Markup {
  const { score, tier, ceiling, ceiling_because, why, next_steps } = trust;
  const holds = ceiling_because === 'none' ? 'not limited' : CEILING_WORDS[ceiling_because];
  return factList([
    ['Tier', trustWord({ tier, score })],
    ['Maximum', markup`${ceiling}: ${tierOf(ceiling)} <p class="minor">${holds}</p>`],
    ['Why', name(why)],
    next_steps.length === 0 ? null : ['Next steps', stepList(next_steps)],
  ]);
}

function stepList(steps: readonly string[]): Markup {
  return markup`<ul class="plain">${steps.map((step) => markup`<li>${name(step)}</li>`)}</ul>`;
}

/** Renders the lines, newest first. */
function lineTable(agentId: string, lines: readonly WireTrustLine[], now: Date): Markup {
  return dataTable({
    caption: 'Ledger',
    columns: [
      {
        head: 'Rule',
        kind: 'name',
        cell: ({ entry_no, rule }) => markup`<span class="minor">${entry_no}.</span> ${RULE_WORDS[rule]}`,
      },
      { head: 'Reason', cell: (line) => reasonCell(agentId, line) },
      { head: 'Tier', kind: 'short', cell: ({ after }) => tierOf(after) },
      {
        head: 'Maximum',
        cell: ({ ceiling, ceiling_because }) =>
          markup`${ceiling} ${ceiling_because === 'none' ? null : markup`<span class="minor">${CEILING_WORDS[ceiling_because]}</span>`}`,
      },
      { head: 'When', cell: ({ at }) => moment(at, now) },
      { head: 'Points', kind: 'number', cell: ({ points }) => signedPoints(points) },
      { head: 'Score', kind: 'number', cell: ({ before, after }) => markup`${before} → ${after}` },
    ],
    rows: lines,
    empty: emptyState('No lines.'),
  });
}

function reasonCell(agentId: string, { reason, action_id }: WireTrustLine): Markup {
  const action = action_id === null ? null : markup` ${link(actionPath(agentId, action_id), 'the action')}`;
  return markup`${name(reason)}${action}`;
}

function factorsOf({ factors }: TrustScore): Markup {
  const table = dataTable({
    caption: 'Points by rule',
    columns: [
      { head: 'Rule', kind: 'name', cell: ({ rule }: TrustScore['factors'][number]) => RULE_WORDS[rule] },
      { head: 'Lines', kind: 'number', cell: ({ lines }) => grouped(lines) },
      { head: 'Points', kind: 'number', cell: ({ points }) => signedPoints(points) },
    ],
    rows: factors,
    empty: emptyState('No points.'),
  });
  return section('Points by rule', table);
}
