import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, type MarkupContent, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { isKnown, sendKnown } from '../../http/etag.ts';
import { forWhoMay, paramsOf } from '../../web/asked.ts';
import {
  dataTable,
  emptyState,
  factList,
  idText,
  link,
  moment,
  momentOr,
  type StatusTone,
  statusWord,
  utcTime,
} from '../../web/components.ts';
import { liveMark, liveRegion } from '../../web/live.ts';
import { section } from '../../web/sections.ts';
import { killParamsSchema, type WireKill } from '../wire/kill.ts';
import { MODE_WORDS, resultWord, STEP_WORDS } from './labels.ts';
import { type AgentPageParts, SEES_AGENTS } from './parts.ts';
import { aboveAgent, agentPath, agentStreamPath, agentsApi } from './paths.ts';

const NOT_YET = markup`<span class="minor">not yet</span>`;

type KilledAgent = WireKill['agents'][number];
type KillStep = KilledAgent['steps'][number];

/** Serves the receipt of the kill switch, step by step. The page refreshes itself until the last step has ended. */
export function receiptPage(server: FastifyInstance, { service, people, clock }: AgentPageParts): void {
  const options = { config: SEES_AGENTS, schema: { hide: true, params: killParamsSchema } } as const;
  server.get('/agents/of/:agent_id/kills/:kill_id', options, async (request, reply) => {
    const { agent_id, kill_id } = paramsOf<{ agent_id: string; kill_id: string }>(request);
    const now = clock();
    const agent = await service.agents.find(agent_id);
    const kill = await service.kill.find(kill_id);
    const ended = endedIn(kill);
    const arrived = kill.deliveries.filter(({ state }) => state !== 'pending').length;
    const mark = liveMark(ended + arrived, now);
    if (isKnown(reply, mark)) return sendKnown(reply);
    const call = await namesOfActors(people, [kill.started_by]);
    const says = kill.finished_at === null ? `${ended} steps have ended.` : 'All steps have ended.';
    const content = [
      verdict(kill, request),
      facts(kill, call, now),
      ...kill.agents.map(stepsOf),
      told(kill.deliveries, now),
    ];
    return reply.page({
      title: `Receipt: ${agent.name} was ${MODE_WORDS[kill.mode].done}`,
      above: aboveAgent(agent),
      introduction: 'The steps that ran, with their times and results. Each is also an entry of the audit stream.',
      content: [liveRegion({ mark, says, now }, content)],
      api: { path: agentsApi(agent_id, 'kill-switch', kill_id) },
    });
  });
}

function stepsIn({ agents }: WireKill): KillStep[] {
  return agents.flatMap(({ steps }) => steps);
}

function endedIn(kill: WireKill): number {
  return stepsIn(kill).filter(({ ended_at }) => ended_at !== null).length;
}

function verdict(kill: WireKill, request: FastifyRequest): Markup {
  const failed = stepsIn(kill).filter(({ result }) => result === 'failed').length;
  const isDone = kill.finished_at !== null;
  const word = !isDone
    ? statusWord('warning', 'Steps are running')
    : failed > 0
      ? statusWord('bad', `${grouped(failed)} of ${grouped(stepsIn(kill).length)} steps failed`)
      : statusWord('good', 'All available steps were completed');
  const stream = forWhoMay(
    request,
    'audit:read',
    () => markup`<p>${link(agentStreamPath(kill.agent_id), 'The audit stream of the agent')} records each step.</p>\n`,
  );
  return markup`<div class="verdict ${isDone ? (failed > 0 ? 'failed' : 'verified') : ''}"><p class="state">${word}</p>
${isDone && failed > 0 ? markup`<p>See the failed steps below. Do them by hand, or use the kill switch again.</p>\n` : null}<p>The kill switch did not end the process of the agent, disable linked IAM apps or lock the vault: do that yourself.</p>
${stream}</div>
`;
}

function facts(kill: WireKill, call: NameActor, now: Date): Markup {
  const { mode, reason, started_at, started_by, finished_at, public_verification_flipped_after_ms: flipped } = kill;
  return factList([
    ['What', MODE_WORDS[mode].word],
    ['Reason', name(reason)],
    ['By', name(call(started_by))],
    ['Started', moment(started_at, now)],
    ['Ended', momentOr(finished_at, now, 'not yet')],
    ['Seen in public verification', flipped === null ? 'not seen' : `after ${duration(flipped)}`],
  ]);
}

function stepsOf({ agent_id, name: agentName, steps }: KilledAgent): Markup {
  const table = dataTable({
    caption: `Steps for ${agentName}`,
    columns: [
      { head: 'Step', kind: 'name', cell: ({ step }) => STEP_WORDS[step] },
      { head: 'Result', cell: ({ result }) => resultWord(result) },
      { head: 'Details', cell: ({ detail }) => (detail === null ? null : name(detail)) },
      {
        head: 'Started',
        kind: 'short',
        cell: ({ started_at }) => (started_at === null ? NOT_YET : utcTime(started_at)),
      },
      { head: 'Took', kind: 'number', cell: took },
      { head: 'Deadline', kind: 'number', cell: ({ deadline_ms }) => duration(deadline_ms) },
    ],
    rows: steps,
    empty: emptyState('No steps have started.'),
  });
  return section(link(agentPath(agent_id), agentName), table);
}

type Delivery = WireKill['deliveries'][number];

const DELIVERY_WORDS: Record<Delivery['state'], readonly [StatusTone, string]> = {
  pending: ['neutral', 'pending'],
  delivered: ['good', 'delivered'],
  dead: ['bad', 'not delivered'],
};

/** Renders the messages to subscribers and their delivery; null if there are none. */
function told(deliveries: readonly Delivery[], now: Date): Markup | null {
  if (deliveries.length === 0) return null;
  const table = dataTable({
    caption: 'Messages to subscribers',
    columns: [
      { head: 'Subscriber', kind: 'name', cell: ({ audience }) => name(audience) },
      { head: 'Status', cell: ({ state }) => statusWord(...DELIVERY_WORDS[state]) },
      { head: 'Message', cell: ({ jti }) => idText(jti) },
      { head: 'Arrived', cell: ({ delivered_at }) => momentOr(delivered_at, now, 'not yet') },
      { head: 'Attempts', kind: 'number', cell: ({ attempts }) => grouped(attempts) },
    ],
    rows: deliveries,
    empty: emptyState('No subscribers are notified.'),
  });
  return section('Notifications', table);
}

function took({ started_at, ended_at }: KillStep): MarkupContent {
  if (started_at === null || ended_at === null) return markup`<span class="minor">–</span>`;
  return duration(Date.parse(ended_at) - Date.parse(started_at));
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${grouped(Math.round(ms / 100) / 10)} s`;
}
