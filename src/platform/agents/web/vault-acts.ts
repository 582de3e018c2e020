import type { FastifyInstance, FastifyRequest } from 'fastify';
import { markup, name as named } from '../../../core/html/markup.ts';
import { DomainError } from '../../errors.ts';
import { actorOf, principalOf, requireScope } from '../../http/principal.ts';
import { serveAct } from '../../web/acts.ts';
import { paramsOf } from '../../web/asked.ts';
import { decoyParamsSchema, secretParamsSchema } from '../requests/vault.ts';
import { type AgentPageParts, PROVED } from './parts.ts';
import { aboveAgent, agentIdOf, agentPath, agentsApi } from './paths.ts';

/** Pages that take a secret out of a vault, for people who have proved again who they are. */
export function vaultActPages(server: FastifyInstance, parts: AgentPageParts): void {
  removeSecretPage(server, parts);
  removeDecoyPage(server, parts);
}

/** @throws DomainError `not_found`. */
function there<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new DomainError('not_found', `the vault has no ${what} of this name or id`);
  return found;
}

function removeSecretPage(server: FastifyInstance, { service: { agents, vault } }: AgentPageParts): void {
  const nameOf = (request: FastifyRequest) => paramsOf<{ name: string }>(request).name;
  serveAct(server, {
    path: '/agents/of/:agent_id/secrets/:name/remove',
    access: PROVED,
    params: secretParamsSchema,
    async view(request) {
      const agent = await agents.find(agentIdOf(request));
      const { secrets } = await vault.list(agent.agent_id);
      const secret = there(
        secrets.find(({ name }) => name === nameOf(request)),
        'secret',
      );
      const path = agentsApi(agent.agent_id, 'vault', 'secrets', secret.name);
      return {
        title: `Remove the secret ${secret.name}`,
        above: aboveAgent(agent),
        introduction: markup`${named(agent.name)} does not find it in its vault any more, and nobody can bring it back. Its leases end. Who has the value keeps it: change it where it is good for something.`,
        submit: 'Remove it',
        isFinal: true,
        back: agentPath(agent.agent_id),
        api: { method: 'DELETE', path },
      };
    },
    async act(request) {
      const id = agentIdOf(request);
      const asker = { address: request.ip, userAgent: request.headers['user-agent'] ?? null };
      await vault.remove(principalOf(request), id, nameOf(request), asker);
      return { notice: 'The secret is removed.', next: agentPath(id) };
    },
  });
}

function removeDecoyPage(server: FastifyInstance, { service: { agents, vault } }: AgentPageParts): void {
  const decoyIdOf = (request: FastifyRequest) => paramsOf<{ decoy_id: string }>(request).decoy_id;
  serveAct(server, {
    path: '/agents/of/:agent_id/decoys/:decoy_id/remove',
    access: PROVED,
    params: decoyParamsSchema,
    async view(request) {
      const agent = await agents.find(agentIdOf(request));
      const { decoys } = await vault.list(agent.agent_id);
      const decoy = there(
        decoys.find(({ decoy_id }) => decoy_id === decoyIdOf(request)),
        'decoy',
      );
      const path = agentsApi(agent.agent_id, 'vault', 'decoys', decoy.decoy_id);
      return {
        title: `Take out the decoy ${decoy.name}`,
        above: aboveAgent(agent),
        introduction: markup`${named(agent.name)} does not find it any more, and no detection is made here. Its trap stays one: whoever has it already is seen where it is used elsewhere.`,
        submit: 'Take it out',
        isFinal: true,
        back: agentPath(agent.agent_id),
        api: { method: 'DELETE', path },
      };
    },
    async act(request) {
      const id = agentIdOf(request);
      requireScope(principalOf(request), 'traps:write');
      await vault.removeDecoy(actorOf(principalOf(request)), id, decoyIdOf(request));
      return { notice: 'The decoy is taken out.', next: agentPath(id) };
    },
  });
}
