import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { serveOperationList } from '../../operations/list.ts';
import { insteadOfAct } from '../../web/acts.ts';
import { dataTable, emptyState, link, moment, statusWord } from '../../web/components.ts';
import { choices } from '../../web/fields.ts';
import type { FormState } from '../../web/forms.ts';
import { askedReason, reasonField } from '../../web/reason.ts';
import { killOperations } from '../operations/kill.ts';
import type { WireAgent } from '../wire/agents.ts';
import { killSchema, type WireKill } from '../wire/kill.ts';
import { MODE_WORDS } from './labels.ts';
import { type AgentPageParts, PROVED } from './parts.ts';
import { AGENTS_API, aboveAgent, agentPath, killPath, SUBSCRIBERS_PATH } from './paths.ts';

const schema = z.object({
  mode: z.enum(killSchema.shape.mode.options, 'Choose what is done'),
  reason: askedReason,
});

/** Serves the page of the kill switch: what it does, and what it does not do. */
export function killPages(server: FastifyInstance, { service }: AgentPageParts): void {
  serveOperationForm(server, killOperations(service).useKillSwitch, {
    path: '/agents/of/:agent_id/kill',
    api: AGENTS_API,
    access: PROVED,
    schema,
    subject: ({ agent_id }) => service.agents.find(agent_id),
    view: ({ form }, agent) => ({
      title: `Kill switch of ${agent.name}`,
      above: aboveAgent(agent),
      introduction: `It stops what this platform gives the agent${agent.children.length === 0 ? '' : ', and every agent that it delegates to'}. Afterwards a receipt says which steps ran.`,
      before: [WHAT_IT_DOES, markup`<h2>Stop it</h2>\n`],
      fields: [modeField(agent, form), reasonField(form)],
      submit: 'Stop it now',
      isFinal: true,
      instead: insteadOfAct(agentPath(agent.agent_id)),
    }),
    example: () => ({ mode: 'suspend', reason: 'why' }),
    done: ({ agent_id, kill_id }) => killPath(agent_id, kill_id),
  });
}

/** Serves the list of uses of the kill switch that stopped an agent, alone or with others. */
export function killsPage(server: FastifyInstance, { service, clock }: AgentPageParts): void {
  serveOperationList(server, killOperations(service).listKills, {
    path: '/agents/of/:agent_id/kills',
    api: AGENTS_API,
    async head({ agent_id }) {
      const agent = await service.agents.find(agent_id);
      return {
        title: `Uses of the kill switch on ${agent.name}`,
        above: aboveAgent(agent),
        introduction: 'Each has a receipt, which says what was done to this agent and to those that it delegates to.',
      };
    },
    table: (kills) => killTable(kills, clock()),
  });
}

const WHAT_IT_DOES = markup`<h2>What it does</h2>
<ul class="prose">
<li>The service refuses what the agent reports from then on, and records each attempt.</li>
<li>Its passport and its certificates are suspended or revoked. Whoever verifies it sees that at once; whoever keeps a list of revoked certificates sees it with the next list.</li>
<li>Leases of its vault end. A value that was handed out stays with whoever has it.</li>
<li>${link(SUBSCRIBERS_PATH, 'Subscribers')} are notified by a signed message.</li>
<li>Agents that it delegates to are stopped first.</li>
</ul>
<h2>What it does not do</h2>
<ul class="prose">
<li><strong>It does not end the process of the agent.</strong> What runs goes on to run. End it where it runs.</li>
<li><strong>It disables no linked IAM app</strong> and no account in another system. Do so there.</li>
<li><strong>It does not lock the vault.</strong> Change the secrets that the agent has read.</li>
</ul>
`;

const MODES = [
  {
    value: 'suspend',
    label: 'Suspend it',
    hint: 'it can be reinstated; its API key stays, so that an attempt is seen and recorded',
  },
  {
    value: 'revoke',
    label: 'Revoke it, for ever',
    hint: 'nobody can undo it: keys that are bound to it are revoked, and it is never onboarded again',
  },
];

function modeField({ state }: WireAgent, form: FormState): Markup {
  // Suspension is preselected for users in a hurry; an irreversible act never is.
  const filled = { ...form, values: { ...(state === 'suspended' ? {} : { mode: 'suspend' }), ...form.values } };
  const modes = state === 'suspended' ? MODES.filter(({ value }) => value === 'revoke') : MODES;
  return choices(filled, { name: 'mode', label: 'How', type: 'radio' }, modes);
}

/** Renders uses of the kill switch as rows. */
export function killTable(kills: readonly WireKill[], now: Date): Markup {
  return dataTable({
    caption: 'Uses of the kill switch',
    columns: [
      {
        head: 'When',
        kind: 'name',
        cell: ({ agent_id, kill_id, started_at }) =>
          markup`<a href="${killPath(agent_id, kill_id)}">${moment(started_at, now)}</a>`,
      },
      { head: 'Status', cell: stepsCell },
      { head: 'What', cell: ({ mode }) => MODE_WORDS[mode].done },
      { head: 'Reason', cell: ({ reason }) => name(reason) },
    ],
    rows: kills,
    empty: emptyState('It was never used.'),
  });
}

function stepsCell({ agents, finished_at }: WireKill): Markup {
  const results = agents.flatMap(({ steps }) => steps.map(({ result }) => result));
  const count = (wanted: string | null) => results.filter((result) => result === wanted).length;
  const failed = count('failed');
  const words =
    finished_at === null
      ? statusWord('warning', 'not finished yet')
      : failed > 0
        ? statusWord('bad', `${failed} failed`)
        : statusWord('good', 'finished');
  return markup`${words} <span class="minor">${count('completed')} completed, ${count('not_available')} not available</span>`;
}

/** Serves the page that reinstates a suspended agent. */
export function reinstatePage(server: FastifyInstance, { service }: AgentPageParts): void {
  serveOperationAct(server, killOperations(service).reinstateAgent, {
    path: '/agents/of/:agent_id/reinstate',
    api: AGENTS_API,
    access: PROVED,
    subject: ({ agent_id }) => service.agents.find(agent_id),
    view: (agent) => ({
      title: `Reinstate ${agent.name}`,
      above: aboveAgent(agent),
      introduction:
        'It may act again, and its passport and certificates are good again. It begins in the tier RESTRICTED, and the days that promotion takes count anew. Agents that it delegates to are not reinstated with it. Find out first why it was suspended.',
      submit: 'Reinstate it',
      isFinal: false,
      back: agentPath(agent.agent_id),
    }),
    notice: (_agent, { message }) => message,
  });
}
