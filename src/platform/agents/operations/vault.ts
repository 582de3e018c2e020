import { requireScope } from '../../http/principal.ts';
import { operationGroup } from '../../operations/operation.ts';
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

const VAULT = operationGroup('agents', 'vault');

const SECRET = '/agents/:agent_id/vault/secrets/:name';
const DECOYS = '/agents/:agent_id/vault/decoys';

export function vaultOperations({ vault }: AgentService) {
  return {
    getAgentVault: VAULT.get('/agents/:agent_id/vault', {
      scope: 'agents:act',
      summary: 'List the secrets in the vault of an agent, without their values, and its tools',
      params: agentParamsSchema,
      answer: vaultSchema,
      refusals: [404, 409],
      work: ({ params }, { principal }) => vault.contents(principal, params.agent_id),
    }),
    putAgentSecret: VAULT.put(SECRET, {
      scope: 'agents:act',
      summary: 'Put a secret into the vault of an agent, replacing one with the same name',
      params: secretParamsSchema,
      body: newSecretSchema,
      answer: secretSchema,
      refusals: [404, 409],
      work: ({ params: { agent_id, name }, body }, caller) =>
        vault.put(caller.principal, agent_id, { name, ...body }, caller),
    }),
    getAgentSecret: VAULT.get(SECRET, {
      scope: 'agents:act',
      summary: 'Read a secret from the vault of an agent, under a lease; each read is an entry of the audit stream',
      params: secretParamsSchema,
      isSecret: true,
      answer: takenSecretSchema,
      refusals: [404, 409],
      work: ({ params: { agent_id, name } }, caller) => vault.get(caller.principal, agent_id, name, caller),
    }),
    removeAgentSecret: VAULT.delete(SECRET, {
      scope: 'agents:act',
      summary: 'Remove a secret from the vault of an agent, and end its leases',
      params: secretParamsSchema,
      answer: secretSchema,
      refusals: [404, 409],
      work: ({ params: { agent_id, name } }, caller) => vault.remove(caller.principal, agent_id, name, caller),
    }),
  };
}

export function decoyOperations({ vault }: AgentService) {
  return {
    listAgentDecoys: VAULT.get(DECOYS, {
      summary: 'List the decoys in the vault of an agent, which look like real secrets and tools to the agent',
      params: agentParamsSchema,
      answer: decoyListSchema,
      refusals: [404],
      work: async ({ params }) => ({ data: (await vault.list(params.agent_id)).decoys }),
    }),
    addAgentDecoy: VAULT.post(DECOYS, {
      summary: 'Put a decoy into the vault of an agent; also requires the scope traps:write',
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
    removeAgentDecoy: VAULT.delete(`${DECOYS}/:decoy_id`, {
      summary:
        'Remove a decoy from the vault of an agent; its trap remains active; also requires the scope traps:write',
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
