import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { field, onceField, select } from '../../web/fields.ts';
import { emptyAsNone } from '../../web/form-lines.ts';
import type { FormState } from '../../web/forms.ts';
import { AGENT_TYPES } from '../enums.ts';
import { agentOperations } from '../operations/agents.ts';
import type { AgentService } from '../service.ts';
import { agentRegistrationSchema } from '../wire/agents.ts';
import { compositionFields, compositionShape } from './agent-form.ts';
import { AGENT_TYPE_WORDS } from './labels.ts';
import type { AgentPageParts } from './parts.ts';
import { ABOVE_AGENTS, AGENTS_API, agentPath } from './paths.ts';

/** Maximum number of agents, the newest, that the form offers. */
const MOST_CHOICES = 100;

export const REGISTRATION_EXAMPLE = {
  name: 'Invoice reader',
  agent_type: 'supervised',
  model: 'a-model',
  version: '1.0.0',
  allowed_tools: ['read_file'],
  allowed_apis: ['api.example.com'],
};

const { name, agent_type, prompt_sha256, parent_agent_id } = agentRegistrationSchema.shape;

const schema = z.object({
  once: idempotencyKey,
  name: z.string().trim().min(1, 'Enter a name').pipe(name),
  agent_type,
  ...compositionShape,
  prompt_sha256: z.preprocess(emptyAsNone, prompt_sha256),
  parent_agent_id: z.preprocess(emptyAsNone, parent_agent_id),
});

/** Serves the form that registers an agent. */
export function registerPage(server: FastifyInstance, { service }: AgentPageParts): void {
  serveOperationForm(server, agentOperations(service).registerAgent, {
    path: '/agents/register',
    api: AGENTS_API,
    schema,
    view: async ({ form, request }) => ({
      title: 'Register an agent',
      above: ABOVE_AGENTS,
      introduction: 'Describe the agent and what it may do. Onboarding, the next step, issues its identity.',
      fields: [...agentFields(form), await parentField(service, form, request)],
      submit: 'Register',
    }),
    example: () => REGISTRATION_EXAMPLE,
    done: ({ agent_id, message }) => ({
      notice: `The agent is registered. ${message}`,
      next: agentPath(agent_id),
    }),
  });
}

function agentFields(form: FormState): Markup[] {
  const types = AGENT_TYPES.map((value) => ({ value, label: AGENT_TYPE_WORDS[value] }));
  const typed = { autocomplete: 'off' } as const;
  const prompt = { ...typed, name: 'prompt_sha256', label: 'SHA-256 of its prompt', isOptional: true };
  return [
    onceField(form),
    field(form, { ...typed, name: 'name', label: 'Name', isFirst: true, hint: 'A name that people know.' }),
    select(form, { name: 'agent_type', label: 'Type', value: 'supervised' }, types),
    ...compositionFields(form),
    field(form, { ...prompt, hint: '64 hex digits. If set, the prompt is part of the composition.' }),
  ];
}

async function parentField({ agents }: AgentService, form: FormState, { query }: FastifyRequest): Promise<Markup> {
  const { parent_agent_id: asked } = query as { parent_agent_id?: unknown };
  const { data, next_cursor } = await agents.list({ limit: MOST_CHOICES, state: 'active' });
  const choices = data.map(({ agent_id, name }) => ({ value: agent_id, label: `${name} (${agent_id.slice(0, 8)})` }));
  const more = next_cursor === null ? '' : ` These are the newest ${MOST_CHOICES}; the API call below accepts any ID.`;
  const hint = markup`The agent that delegates to this one. The score never exceeds the parent's, and the kill switch of the parent stops both.${more}`;
  const view = {
    name: 'parent_agent_id',
    label: 'Parent agent',
    hint,
    ...(typeof asked === 'string' ? { value: asked } : {}),
  };
  return select(form, view, [{ value: '', label: 'none' }, ...choices]);
}
