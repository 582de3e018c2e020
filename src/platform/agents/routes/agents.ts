import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import {
  agentPatchSchema,
  agentQuerySchema,
  agentRegistrationSchema,
  agentSchema,
  onboardedSchema,
} from '../requests/agents.ts';
import { agentParamsSchema } from '../requests/parts.ts';
import { agentStatsSchema } from '../requests/stats.ts';
import type { AgentService } from '../service.ts';

// Over 40 lines: it is a list of routes.
export const agentListRoutes: FastifyPluginAsyncZod<{ service: AgentService }> = async (server, { service }) => {
  const { agents, onboarding } = service;

  server.post(
    '/agents',
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'registerAgent',
        tags: ['agents'],
        summary: 'Register an agent; an allowance that is empty denies all',
        headers: keyHeaderSchema,
        body: agentRegistrationSchema,
        response: { 201: agentSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await agents.register(actorOf(principalOf(request)), request.body, key));
    },
  );

  server.get(
    '/agents',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'listAgents',
        tags: ['agents'],
        summary: 'List agents, newest first',
        querystring: agentQuerySchema,
        response: { 200: pageSchema(agentSchema) },
      },
    },
    ({ query }) => agents.list(query),
  );

  server.get(
    '/agents/:agent_id',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'getAgent',
        tags: ['agents'],
        summary: 'Get an agent: how it stands, and its public identity',
        params: agentParamsSchema,
        response: { 200: agentSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => agents.find(params.agent_id),
  );

  server.patch(
    '/agents/:agent_id',
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'changeAgent',
        tags: ['agents'],
        summary:
          'Change an agent; another model, version, prompt or allowance suspends its passport until it is onboarded again',
        params: agentParamsSchema,
        body: agentPatchSchema,
        response: { 200: agentSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => agents.change(actorOf(principalOf(request)), request.params.agent_id, request.body),
  );

  server.post(
    '/agents/:agent_id/onboard',
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'onboardAgent',
        tags: ['agents'],
        summary:
          'Onboard an agent: identity, certificate, vault, audit stream and passport; private keys are answered this once',
        params: agentParamsSchema,
        headers: keyHeaderSchema,
        response: { 201: onboardedSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      const actor = actorOf(principalOf(request));
      return reply.code(201).send(await onboarding.onboard(actor, request.params.agent_id, key));
    },
  );

  server.get(
    '/stats/',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'getAgentStats',
        tags: ['agents'],
        summary: 'Count agents, and what is wrong with them',
        response: { 200: agentStatsSchema },
      },
    },
    () => service.stats(),
  );
};
