import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { text } from '../../http/fields.ts';
import { dataTable, emptyState, factList, statusWord } from '../../web/components.ts';
import { choices, field, postForm } from '../../web/fields.ts';
import { emptyAsNone } from '../../web/form-lines.ts';
import { type AskedForm, type FormState, serveForm } from '../../web/forms.ts';
import { section } from '../../web/sections.ts';
import { agentParamsSchema } from '../wire/agents.ts';
import { SIMULATED_RULES, type Simulated, type Simulation, simulationSchema } from '../wire/trust.ts';
import { RULE_WORDS, STATE_WORDS, signedPoints, trustWord } from './labels.ts';
import { type AgentPageParts, SEES_AGENTS } from './parts.ts';
import { aboveAgent, agentIdOf, agentPath, agentsApi } from './paths.ts';

const word = z.preprocess(emptyAsNone, text.max(256).optional());

/** Form for either the facts of an action, or rules. */
const schema = z
  .object({
    what: z.enum(['action', 'rules']),
    tool_used: word,
    api_called: word,
    signed: z.preprocess((given) => given === 'yes', z.boolean()),
    rules: z.preprocess((given) => (given === undefined ? [] : [given].flat()), z.array(z.enum(SIMULATED_RULES))),
  })
  .refine(({ what, rules }) => what === 'action' || rules.length > 0, {
    path: ['rules'],
    error: 'Choose at least one rule',
  })
  .transform(({ what, rules, tool_used, api_called, signed }) =>
    simulationSchema.parse(what === 'rules' ? { rules } : { action: { tool_used, api_called, attested: signed } }),
  );

/** Serves the page that simulates a score without recording it. */
export function simulatePage(server: FastifyInstance, { service: { agents, trust } }: AgentPageParts): void {
  serveForm(server, {
    path: '/agents/of/:agent_id/simulate',
    access: SEES_AGENTS,
    params: agentParamsSchema,
    schema,
    async show(asked) {
      const agent = await agents.find(agentIdOf(asked.request));
      return {
        title: `Simulate actions of ${agent.name}`,
        above: aboveAgent(agent),
        introduction: 'The score is computed as if this happened now. Nothing is changed or recorded.',
        content: simulateForm(agent.agent_id, asked),
        api: simulateCall(agent.agent_id),
      };
    },
    async act(simulation, request, reply) {
      const agent = await agents.find(agentIdOf(request));
      const simulated = await trust.simulate(agent.agent_id, simulation);
      const form = { values: typedOf(simulation), errors: {}, refusal: null };
      return {
        title: `Simulate actions of ${agent.name}`,
        above: aboveAgent(agent),
        introduction: 'As of now. Nothing was changed or recorded.',
        content: [
          outcome(simulated),
          section('Simulate again', simulateForm(agent.agent_id, { form, request, reply })),
        ],
        api: simulateCall(agent.agent_id),
      };
    },
  });
}

function simulateCall(agentId: string) {
  const path = agentsApi(agentId, 'trust-score', 'simulate');
  return { method: 'POST', path, body: { rules: ['tool_outside', 'tool_outside'] } } as const;
}

function typedOf({ rules, action }: Simulation): FormState['values'] {
  if (rules !== undefined) return { what: 'rules', rules };
  const { tool_used = '', api_called = '', attested = false } = action ?? {};
  return { what: 'action', tool_used, api_called, signed: attested ? 'yes' : 'no' };
}

const SIGNED = [
  { value: 'yes', label: 'Signed with its key' },
  { value: 'no', label: 'Not signed', hint: 'earns no points' },
];

function simulateForm(agentId: string, asked: AskedForm): Markup {
  const { form } = asked;
  const filled = { ...form, values: { what: 'action', signed: 'yes', ...form.values } };
  const actionFields = [
    field(filled, { name: 'tool_used', label: 'Tool', autocomplete: 'off', isOptional: true }),
    field(filled, { name: 'api_called', label: 'API', hint: 'A host name.', autocomplete: 'off', isOptional: true }),
    choices(filled, { name: 'signed', label: 'Signature', type: 'radio' }, SIGNED),
  ];
  const rules = SIMULATED_RULES.map((value) => ({ value, label: RULE_WORDS[value] }));
  const ruleFields = [choices(filled, { name: 'rules', label: 'Rules', type: 'checkbox' }, rules)];
  const what = [
    { value: 'action', label: 'An action', fields: actionFields },
    { value: 'rules', label: 'Rules, applied in order', fields: ruleFields },
  ];
  return postForm(asked, {
    action: agentPath(agentId, 'simulate'),
    fields: choices(filled, { name: 'what', label: 'Simulate', type: 'radio' }, what),
    submit: 'Simulate',
  });
}

function outcome({ before, after, tier, state, lines }: Simulated): Markup {
  const table = dataTable({
    caption: 'New lines of the ledger',
    columns: [
      { head: 'Rule', kind: 'name', cell: ({ rule }) => RULE_WORDS[rule] },
      { head: 'Reason', cell: ({ reason }) => name(reason) },
      { head: 'Points', kind: 'number', cell: ({ points }) => signedPoints(points) },
      { head: 'Score', kind: 'number', cell: (line) => markup`${line.before} → ${line.after}` },
    ],
    rows: lines,
    empty: emptyState('The ledger would have no new lines, so the score stays.'),
  });
  return markup`${factList([
    ['Score', markup`${before} → ${after}`],
    ['Tier', trustWord({ tier, score: after })],
    ['Status', statusWord(...STATE_WORDS[state])],
  ])}${table}`;
}
