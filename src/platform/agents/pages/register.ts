import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { field, onceField, postForm, select } from '../../web/fields.ts';
import { emptyAsNone } from '../../web/form-lines.ts';
import { type FormState, serveForm } from '../../web/forms.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import { AGENT_TYPES } from '../enums.ts';
import type { AgentService } from '../service.ts';
import { agentRegistrationSchema } from '../wire/agents.ts';
import { compositionFields, compositionShape } from './agent-form.ts';
import { AGENT_TYPE_WORDS } from './labels.ts';
import { type AgentPageParts, CHANGES_AGENTS } from './parts.ts';
import { ABOVE_AGENTS, agentPath, agentsApi } from './paths.ts';

/** Agents that a form has to choose from: the newest. */
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
  name: z.string().trim().min(1, 'Say what the agent is called').pipe(name),
  agent_type,
  ...compositionShape,
  prompt_sha256: z.preprocess(emptyAsNone, prompt_sha256),
  parent_agent_id: z.preprocess(emptyAsNone, parent_agent_id),
});

/** A new agent. */
export function registerPage(server: FastifyInstance, { service }: AgentPageParts): void {
  serveForm(server, {
    path: '/agents/register',
    access: CHANGES_AGENTS,
    schema,
    show: async (form, request, reply) => ({
      title: 'Register an agent',
      above: ABOVE_AGENTS,
      introduction:
        'Say what it is and what it may do. It has no identity before it is onboarded, which is the next step.',
      content: [await registerForm(service, { form, request, reply })],
      api: { method: 'POST', path: agentsApi(), body: REGISTRATION_EXAMPLE },
    }),
    async act({ once, ...input }, request, reply) {
      const { agent_id, message } = await service.agents.register(actorOf(principalOf(request)), input, once);
      leaveNotice(reply, `The agent is registered. ${message}`);
      return agentPath(agent_id);
    },
  });
}

async function registerForm(
  service: AgentService,
  asked: { form: FormState; request: FastifyRequest; reply: FastifyReply },
): Promise<Markup> {
  const { form, request } = asked;
  return postForm(asked, {
    fields: [
      onceField(form),
      field(form, {
        name: 'name',
        label: 'Name',
        autocomplete: 'off',
        isFirst: true,
        hint: 'As people call it.',
      }),
      select(
        form,
        { name: 'agent_type', label: 'Type', value: 'supervised' },
        AGENT_TYPES.map((value) => ({ value, label: AGENT_TYPE_WORDS[value] })),
      ),
      ...compositionFields(form),
      field(form, {
        name: 'prompt_sha256',
        label: 'SHA-256 of its prompt',
        autocomplete: 'off',
        isOptional: true,
        hint: '64 hex digits. Another prompt is another composition then.',
      }),
      await parentField(service, form, request),
    ],
    submit: 'Register it',
  });
}

async function parentField({ agents }: AgentService, form: FormState, { query }: FastifyRequest): Promise<Markup> {
  const { parent_agent_id: asked } = query as { parent_agent_id?: unknown };
  const { data, next_cursor } = await agents.list({ limit: MOST_CHOICES, state: 'active' });
  const choices = data.map(({ agent_id, name }) => ({ value: agent_id, label: `${name} (${agent_id.slice(0, 8)})` }));
  const more = next_cursor === null ? '' : ` These are the newest ${MOST_CHOICES}; the call below takes any id.`;
  const hint = markup`Its score is never above the score of that agent, and the kill switch takes both.${more}`;
  const view = {
    name: 'parent_agent_id',
    label: 'The agent that delegates to it',
    hint,
    ...(typeof asked === 'string' ? { value: asked } : {}),
  };
  return select(form, view, [{ value: '', label: 'none' }, ...choices]);
}
