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
  mode: z.enum(killSchema.shape.mode.options, 'Choose how to stop the agent'),
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
      introduction: `Stops what this platform provides to the agent${agent.children.length === 0 ? '' : ' and to every agent that it delegates to'}. Afterwards, a receipt lists the steps that ran.`,
      before: [WHAT_IT_DOES, markup`<h2>Stop the agent</h2>\n`],
      fields: [modeField(agent, form), reasonField(form)],
      submit: 'Stop the agent now',
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
        introduction:
          'Each use has a receipt, which lists what was done to this agent and to the agents that it delegates to.',
      };
    },
    table: (kills) => killTable(kills, clock()),
  });
}

const WHAT_IT_DOES = markup`<h2>What it does</h2>
<ul class="prose">
<li>The service refuses further reports of the agent, and records each attempt.</li>
<li>Its passport and its certificates are suspended or revoked. Public verification shows this at once, and the next revocation lists include it.</li>
<li>Leases of its vault end. Values that were handed out cannot be recalled.</li>
<li>${link(SUBSCRIBERS_PATH, 'Subscribers')} are notified with a signed message.</li>
<li>Agents that it delegates to are stopped first.</li>
</ul>
<h2>What it does not do</h2>
<ul class="prose">
<li><strong>It does not end the process of the agent.</strong> The process keeps running. Stop it on its machine.</li>
<li><strong>It disables no linked IAM app</strong> and no account in another system. Disable them there.</li>
<li><strong>It does not lock the vault.</strong> Change the secrets that the agent has read.</li>
</ul>
`;

const MODES = [
  {
    value: 'suspend',
    label: 'Suspend',
    hint: 'can be reinstated; its API key remains, so that attempts are recorded',
  },
  {
    value: 'revoke',
    label: 'Revoke permanently',
    hint: 'cannot be undone: its keys are revoked, and it cannot be onboarded again',
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
    empty: emptyState('The kill switch was never used.'),
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
        'The agent may act again, and its passport and certificates are valid again. It starts in the tier RESTRICTED, and the days until promotion start over. Agents that it delegates to are not reinstated. First find out why it was suspended.',
      submit: 'Reinstate',
      back: agentPath(agent.agent_id),
    }),
    notice: (_agent, { message }) => message,
  });
}
