import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { AgentService } from '../service.ts';
import {
  actionParamsSchema,
  actionQuerySchema,
  actionSchema,
  loggedActionSchema,
  loggedOutcomeSchema,
  newActionSchema,
  newOutcomeSchema,
} from '../wire/actions.ts';
import { agentParamsSchema } from '../wire/agents.ts';

const ACTIONS = operationGroup('agents', 'actions');

export function actionOperations({ actions }: AgentService) {
  return {
    logAction: ACTIONS.post('/agents/:agent_id/actions', {
      scope: 'agents:act',
      summary: 'Log an action of an agent; violations are recorded but not prevented',
      params: agentParamsSchema,
      body: newActionSchema,
      isKeyed: true,
      status: 201,
      answer: loggedActionSchema,
      refusals: [404, 409],
      work: ({ params, body, key }, { principal }) => actions.log(principal, params.agent_id, body, key),
    }),
    listActions: ACTIONS.get('/agents/:agent_id/actions', {
      summary: 'List the actions of an agent, newest first',
      params: agentParamsSchema,
      query: actionQuerySchema,
      answer: pageSchema(actionSchema),
      refusals: [404],
      work: ({ params, query }) => actions.list(params.agent_id, query),
    }),
    getAction: ACTIONS.get('/agents/:agent_id/actions/:action_id', {
      summary: 'Get an action, with its decision and its audit entry',
      params: actionParamsSchema,
      answer: actionSchema,
      refusals: [404],
      work: ({ params }) => actions.find(params.agent_id, params.action_id),
    }),
    reportOutcome: ACTIONS.post('/agents/:agent_id/actions/:action_id/outcome', {
      scope: 'agents:act',
      summary: 'Report the outcome of an action, once, as a separate audit entry',
      params: actionParamsSchema,
      body: newOutcomeSchema,
      status: 201,
      answer: loggedOutcomeSchema,
      refusals: [404, 409],
      work: ({ params, body }, { principal }) => actions.outcome(principal, params.agent_id, params.action_id, body),
    }),
  };
}
