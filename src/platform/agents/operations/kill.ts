import { DomainError } from '../../errors.ts';
import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { AgentService } from '../service.ts';
import { agentParamsSchema, reasonBodySchema } from '../wire/agents.ts';
import { killParamsSchema, killReceiptSchema, killSchema, reinstatedSchema } from '../wire/kill.ts';

const KILL_SWITCH = operationGroup('agents', 'kill switch');

// Over 40 lines: it is the list of operations.
export function killOperations({ kill }: AgentService) {
  return {
    useKillSwitch: KILL_SWITCH.post('/agents/:agent_id/kill-switch', {
      summary:
        'Suspend or revoke an agent and all agents that it delegates to, children first; the receipt lists the steps that ran. Linked IAM apps are not disabled, and vaults are not locked',
      params: agentParamsSchema,
      body: killSchema,
      isKeyed: true,
      answer: killReceiptSchema,
      refusals: [404, 409],
      work: ({ actor, params, body, key }) => kill.stop(actor, params.agent_id, body, key),
    }),
    listKills: KILL_SWITCH.get('/agents/:agent_id/kill-switch', {
      summary: 'List the uses of the kill switch that stopped an agent, newest first',
      params: agentParamsSchema,
      query: pageQuerySchema,
      answer: pageSchema(killReceiptSchema),
      refusals: [404],
      work: ({ params, query }) => kill.list(params.agent_id, query),
    }),
    getKill: KILL_SWITCH.get('/agents/:agent_id/kill-switch/:kill_id', {
      summary: 'Get the receipt of a use of the kill switch, with the delivery of its Security Event Tokens',
      params: killParamsSchema,
      answer: killReceiptSchema,
      refusals: [404],
      work: async ({ params }) => {
        const receipt = await kill.find(params.kill_id);
        if (receipt.agents.some(({ agent_id }) => agent_id === params.agent_id)) return receipt;
        throw new DomainError('not_found', 'this use of the kill switch did not involve this agent');
      },
    }),
    reinstateAgent: KILL_SWITCH.post('/agents/:agent_id/reinstate', {
      summary: 'Reinstate a suspended agent with little trust; its children keep their states',
      params: agentParamsSchema,
      body: reasonBodySchema,
      answer: reinstatedSchema,
      refusals: [404, 409],
      work: ({ actor, params, body }) => kill.reinstate(actor, params.agent_id, body),
    }),
  };
}
