import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { DomainError } from '../../errors.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import {
  killParamsSchema,
  killQuerySchema,
  killReceiptSchema,
  killSchema,
  reinstatedSchema,
} from '../requests/kill.ts';
import { agentParamsSchema, reasonBodySchema } from '../requests/parts.ts';
import type { AgentService } from '../service.ts';

// Over 40 lines: it is a list of routes.
export const killRoutes: FastifyPluginAsyncZod<{ service: AgentService }> = async (server, { service }) => {
  const { kill } = service;

  server.post(
    '/agents/:agent_id/kill-switch',
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'useKillSwitch',
        tags: ['kill switch'],
        summary:
          'Suspend or revoke an agent and all that it delegates to, children first; the receipt says which steps ran. Linked IAM apps are not disabled, and vaults are not locked',
        params: agentParamsSchema,
        headers: keyHeaderSchema,
        body: killSchema,
        response: { 200: killReceiptSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => {
      const { params, body, headers } = request;
      return kill.stop(actorOf(principalOf(request)), params.agent_id, body, headers['idempotency-key']);
    },
  );

  server.get(
    '/agents/:agent_id/kill-switch',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'listKills',
        tags: ['kill switch'],
        summary: 'List the uses of the kill switch by which an agent was stopped, newest first',
        params: agentParamsSchema,
        querystring: killQuerySchema,
        response: { 200: pageSchema(killReceiptSchema), ...problemResponses(404) },
      },
    },
    ({ params, query }) => kill.list(params.agent_id, query),
  );

  server.get(
    '/agents/:agent_id/kill-switch/:kill_id',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'getKill',
        tags: ['kill switch'],
        summary: 'Get the receipt of a use of the kill switch, with how its Security Event Tokens stand',
        params: killParamsSchema,
        response: { 200: killReceiptSchema, ...problemResponses(404) },
      },
    },
    async ({ params }) => {
      const receipt = await kill.find(params.kill_id);
      if (receipt.agents.some(({ agent_id }) => agent_id === params.agent_id)) return receipt;
      throw new DomainError('not_found', 'this use of the kill switch was not for this agent');
    },
  );

  server.post(
    '/agents/:agent_id/reinstate',
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'reinstateAgent',
        tags: ['kill switch'],
        summary: 'Let a suspended agent act again, with little trust; its children stay as they are',
        params: agentParamsSchema,
        body: reasonBodySchema,
        response: { 200: reinstatedSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => kill.reinstate(actorOf(principalOf(request)), request.params.agent_id, request.body),
  );
};
