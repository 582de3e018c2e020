import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { actorOf, principalOf } from '../../http/principal.ts';
import { field, postForm } from '../../web/fields.ts';
import { linesOfField } from '../../web/form-lines.ts';
import { serveForm } from '../../web/forms.ts';
import { type AgentPatch, agentParamsSchema, agentRegistrationSchema, type WireAgent } from '../wire/agents.ts';
import { compositionFields, compositionShape, typedOf } from './agent-form.ts';
import { type AgentPageParts, CHANGES_AGENTS } from './parts.ts';
import { aboveAgent, agentIdOf, agentPath, agentsApi } from './paths.ts';

const schema = z.object({
  name: z.string().trim().min(1, 'Enter a name').pipe(agentRegistrationSchema.shape.name),
  ...compositionShape,
});

/** Serves the page that changes an agent's composition and rights. */
export function changePage(server: FastifyInstance, { service: { agents } }: AgentPageParts): void {
  serveForm(server, {
    path: '/agents/of/:agent_id/change',
    access: CHANGES_AGENTS,
    params: agentParamsSchema,
    schema,
    async show(asked) {
      const agent = await agents.find(agentIdOf(asked.request));
      const form = { ...asked.form, values: { name: agent.name, ...typedOf(agent), ...asked.form.values } };
      const named = field(form, { name: 'name', label: 'Name', autocomplete: 'off', isFirst: true });
      return {
        title: `Change ${agent.name}`,
        above: aboveAgent(agent),
        introduction:
          'Model, version, tools and APIs form the composition, which the passport and the certificates state. If one of them changes, the passport is suspended and the score is at most 60 until the agent is onboarded again. The name is not part of the composition.',
        content: postForm({ ...asked, form }, { fields: [named, ...compositionFields(form)], submit: 'Change' }),
        api: { method: 'PATCH', path: agentsApi(agent.agent_id), body: { allowed_tools: agent.allowed_tools } },
      };
    },
    async act(patch, request) {
      const id = agentIdOf(request);
      const input = untouchedLeftOut(await agents.find(id), patch);
      const { composition } = await agents.change(actorOf(principalOf(request)), id, input);
      const onboard = composition.changed_at === null ? '' : ' Its passport is suspended until it is onboarded again.';
      return { notice: `The agent is changed.${onboard}`, next: agentPath(id) };
    },
  });
}

/** Omits the tools if the form left them unchanged: a tool whose name contains a line break would come back as two. */
function untouchedLeftOut(before: WireAgent, { allowed_tools, ...others }: z.output<typeof schema>): AgentPatch {
  const isUntouched = linesOfField(before.allowed_tools.join('\n')).join('\n') === allowed_tools.join('\n');
  return isUntouched ? others : { ...others, allowed_tools };
}
