import type { FastifyInstance } from 'fastify';
import { markup, name as named } from '../../../core/html/markup.ts';
import { DomainError } from '../../errors.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { decoyOperations, vaultOperations } from '../operations/vault.ts';
import { type AgentPageParts, PROVED } from './parts.ts';
import { AGENTS_API, aboveAgent, agentPath } from './paths.ts';

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

function removeSecretPage(server: FastifyInstance, { service }: AgentPageParts): void {
  const { agents, vault } = service;
  serveOperationAct(server, vaultOperations(service).removeAgentSecret, {
    path: '/agents/of/:agent_id/secrets/:name/remove',
    api: AGENTS_API,
    access: PROVED,
    async subject({ agent_id, name }) {
      const agent = await agents.find(agent_id);
      const { secrets } = await vault.list(agent_id);
      const secret = there(
        secrets.find((each) => each.name === name),
        'secret',
      );
      return { agent, secret };
    },
    view: ({ agent, secret }) => ({
      title: `Remove the secret ${secret.name}`,
      above: aboveAgent(agent),
      introduction: markup`${named(agent.name)} does not find it in its vault any more, and nobody can bring it back. Its leases end. Who has the value keeps it: change it where it is good for something.`,
      submit: 'Remove it',
      isFinal: true,
      back: agentPath(agent.agent_id),
    }),
    notice: () => 'The secret is removed.',
  });
}

function removeDecoyPage(server: FastifyInstance, { service }: AgentPageParts): void {
  const { agents, vault } = service;
  serveOperationAct(server, decoyOperations(service).removeAgentDecoy, {
    path: '/agents/of/:agent_id/decoys/:decoy_id/remove',
    api: AGENTS_API,
    access: PROVED,
    async subject({ agent_id, decoy_id }) {
      const agent = await agents.find(agent_id);
      const { decoys } = await vault.list(agent_id);
      const decoy = there(
        decoys.find((each) => each.decoy_id === decoy_id),
        'decoy',
      );
      return { agent, decoy };
    },
    view: ({ agent, decoy }) => ({
      title: `Take out the decoy ${decoy.name}`,
      above: aboveAgent(agent),
      introduction: markup`${named(agent.name)} does not find it any more, and no detection is made here. Its trap stays one: whoever has it already is seen where it is used elsewhere.`,
      submit: 'Take it out',
      isFinal: true,
      back: agentPath(agent.agent_id),
    }),
    notice: () => 'The decoy is taken out.',
  });
}
