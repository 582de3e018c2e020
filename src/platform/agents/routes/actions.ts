import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { keyHeaderSchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import {
  actionParamsSchema,
  actionQuerySchema,
  actionSchema,
  loggedActionSchema,
  loggedOutcomeSchema,
  newActionSchema,
  newOutcomeSchema,
} from '../requests/actions.ts';
import { agentParamsSchema } from '../requests/parts.ts';
import type { AgentService } from '../service.ts';

/** Routes by which agents report their actions. */
// Over 40 lines: it is a list of routes.
export const actionRoutes: FastifyPluginAsyncZod<{ service: AgentService }> = async (server, { service }) => {
  const { actions } = service;

  server.post(
    '/agents/:agent_id/actions',
    {
      config: { scope: 'agents:act' },
      schema: {
        operationId: 'logAction',
        tags: ['actions'],
        summary: 'Log an action of an agent; a violation is recorded, and cannot be prevented here',
        headers: keyHeaderSchema,
        params: agentParamsSchema,
        body: newActionSchema,
        response: { 201: loggedActionSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      const { agent_id } = request.params;
      return reply.code(201).send(await actions.log(principalOf(request), agent_id, request.body, key));
    },
  );

  server.get(
    '/agents/:agent_id/actions',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'listActions',
        tags: ['actions'],
        summary: 'List the actions of an agent, newest first',
        params: agentParamsSchema,
        querystring: actionQuerySchema,
        response: { 200: pageSchema(actionSchema), ...problemResponses(404) },
      },
    },
    ({ params, query }) => actions.list(params.agent_id, query),
  );

  server.get(
    '/agents/:agent_id/actions/:action_id',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'getAction',
        tags: ['actions'],
        summary: 'Get an action: what was decided, and where its entry is',
        params: actionParamsSchema,
        response: { 200: actionSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => actions.find(params.agent_id, params.action_id),
  );

  server.post(
    '/agents/:agent_id/actions/:action_id/outcome',
    {
      config: { scope: 'agents:act' },
      schema: {
        operationId: 'reportOutcome',
        tags: ['actions'],
        summary: 'Report what became of an action, once; it is an entry of its own',
        params: actionParamsSchema,
        body: newOutcomeSchema,
        response: { 201: loggedOutcomeSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const { agent_id, action_id } = request.params;
      return reply.code(201).send(await actions.outcome(principalOf(request), agent_id, action_id, request.body));
    },
  );
};
