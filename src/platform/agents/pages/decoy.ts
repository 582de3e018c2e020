import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { actorOf, principalOf } from '../../http/principal.ts';
import { asCurl } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { choices, field, postForm } from '../../web/fields.ts';
import { serveForm } from '../../web/forms.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import { DECOY_SORTS } from '../enums.ts';
import { agentParamsSchema } from '../wire/agents.ts';
import { newDecoySchema } from '../wire/vault.ts';
import { type AgentPageParts, CHANGES_AGENTS } from './parts.ts';
import { aboveAgent, agentIdOf, agentPath, agentsApi } from './paths.ts';

const schema = z
  .object({ kind: z.enum(DECOY_SORTS), name: z.string().trim().min(1, 'Say what it is called') })
  .pipe(newDecoySchema);

const KINDS = [
  { value: 'secret', label: 'A secret', hint: 'in its vault, beside the real ones: whoever reads it is found' },
  { value: 'tool', label: 'A tool', hint: 'that the agent has no reason to use: an action that names it is found' },
];

/** A secret or a tool that nobody has a reason to use. */
export function decoyPage(server: FastifyInstance, { service: { agents, vault } }: AgentPageParts): void {
  serveForm(server, {
    path: '/agents/of/:agent_id/decoy',
    access: CHANGES_AGENTS,
    params: agentParamsSchema,
    schema,
    async show(form, request, reply) {
      const agent = await agents.find(agentIdOf(request));
      const values = { kind: 'secret', ...form.values };
      const path = agentsApi(agent.agent_id, 'vault', 'decoys');
      const body = { name: 'prod-db-password', kind: 'secret' };
      return {
        title: `Plant a decoy for ${agent.name}`,
        isNarrow: true,
        above: aboveAgent(agent),
        introduction:
          'A use of it is a detection of the trap service, raises an alert, and costs the agent 30 points. Give it a name that looks worth taking.',
        content: [
          postForm(
            { request, reply, form },
            {
              fields: [
                field(form, { name: 'name', label: 'Name', autocomplete: 'off', isFirst: true }),
                choices({ ...form, values }, { name: 'kind', label: 'What', type: 'radio' }, KINDS),
              ],
              submit: 'Plant it',
            },
          ),
          asCurl('curl', curlCommand(request, { method: 'POST', path, body })),
        ],
      };
    },
    async act(given, request, reply) {
      const id = agentIdOf(request);
      await vault.addDecoy(actorOf(principalOf(request)), id, given);
      leaveNotice(reply, 'The decoy is planted.');
      return agentPath(id);
    },
  });
}
