import { requireScope } from '../../http/principal.ts';
import { operation } from '../../operations/operation.ts';
import type { AgentService } from '../service.ts';
import { agentParamsSchema } from '../wire/agents.ts';
import {
  decoyListSchema,
  decoyParamsSchema,
  decoySchema,
  newDecoySchema,
  newSecretSchema,
  secretParamsSchema,
  secretSchema,
  takenSecretSchema,
  vaultSchema,
} from '../wire/vault.ts';

const SECRET = '/agents/:agent_id/vault/secrets/:name';
const DECOYS = '/agents/:agent_id/vault/decoys';

/** Returns the operations on the vaults of agents. */
// Over 40 lines: it is the list of operations.
export function vaultOperations({ vault }: AgentService) {
  return {
    getAgentVault: operation({
      method: 'GET',
      path: '/agents/:agent_id/vault',
      scope: 'agents:act',
      tag: 'vault',
      summary: 'List the secrets in the vault of an agent, without their values, and its tools',
      params: agentParamsSchema,
      answer: vaultSchema,
      refusals: [404, 409],
      work: ({ params }, { principal }) => vault.contents(principal, params.agent_id),
    }),
    putAgentSecret: operation({
      method: 'PUT',
      path: SECRET,
      scope: 'agents:act',
      tag: 'vault',
      summary: 'Put a secret into the vault of an agent, in the place of the one of its name',
      params: secretParamsSchema,
      body: newSecretSchema,
      answer: secretSchema,
      refusals: [404, 409],
      work: ({ params: { agent_id, name }, body }, caller) =>
        vault.put(caller.principal, agent_id, { name, ...body }, caller),
    }),
    getAgentSecret: operation({
      method: 'GET',
      path: SECRET,
      scope: 'agents:act',
      tag: 'vault',
      summary: 'Take a secret out of the vault of an agent, under a lease; each time is an entry of its stream',
      params: secretParamsSchema,
      isSecret: true,
      answer: takenSecretSchema,
      refusals: [404, 409],
      work: ({ params: { agent_id, name } }, caller) => vault.get(caller.principal, agent_id, name, caller),
    }),
    removeAgentSecret: operation({
      method: 'DELETE',
      path: SECRET,
      scope: 'agents:act',
      tag: 'vault',
      summary: 'Remove a secret from the vault of an agent, and end its leases',
      params: secretParamsSchema,
      answer: secretSchema,
      refusals: [404, 409],
      work: ({ params: { agent_id, name } }, caller) => vault.remove(caller.principal, agent_id, name, caller),
    }),
  };
}

/** Returns the operations on the decoys in the vaults of agents. */
// Over 40 lines: it is the list of operations.
export function decoyOperations({ vault }: AgentService) {
  return {
    listAgentDecoys: operation({
      method: 'GET',
      path: DECOYS,
      scope: 'agents:read',
      tag: 'vault',
      summary: 'List the decoys in the vault of an agent, which the agent cannot tell from the rest',
      params: agentParamsSchema,
      answer: decoyListSchema,
      refusals: [404],
      work: async ({ params }) => ({ data: (await vault.list(params.agent_id)).decoys }),
    }),
    addAgentDecoy: operation({
      method: 'POST',
      path: DECOYS,
      scope: 'agents:write',
      tag: 'vault',
      summary: 'Put a decoy into the vault of an agent; this needs the scope traps:write, too',
      params: agentParamsSchema,
      body: newDecoySchema,
      status: 201,
      answer: decoySchema,
      refusals: [404, 409],
      work: ({ actor, params, body }, { principal }) => {
        requireScope(principal, 'traps:write');
        return vault.addDecoy(actor, params.agent_id, body);
      },
    }),
    removeAgentDecoy: operation({
      method: 'DELETE',
      path: `${DECOYS}/:decoy_id`,
      scope: 'agents:write',
      tag: 'vault',
      summary: 'Take a decoy out of the vault of an agent; its trap stays one; this needs the scope traps:write, too',
      params: decoyParamsSchema,
      answer: decoySchema,
      refusals: [404],
      work: ({ actor, params }, { principal }) => {
        requireScope(principal, 'traps:write');
        return vault.removeDecoy(actor, params.agent_id, params.decoy_id);
      },
    }),
  };
}
