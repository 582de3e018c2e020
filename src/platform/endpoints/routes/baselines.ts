import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { pageQuerySchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import {
  baselineParamsSchema,
  baselineQuerySchema,
  baselineSchema,
  differencesSchema,
  proposalSchema,
  registrationSchema,
} from '../requests/baselines.ts';
import { hostParamsSchema, reasonSchema } from '../requests/hosts.ts';
import { partTakenSchema } from '../requests/reports.ts';
import type { EndpointService } from '../service.ts';

/** The lines of a part, with long paths. */
const PART_BYTES = 8 * 2 ** 20;

// Over 40 lines: it is a list of routes.
export const baselineRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { baselines } = service;

  server.post(
    '/baselines/register',
    {
      bodyLimit: PART_BYTES,
      config: { scope: 'endpoints:write' },
      schema: {
        operationId: 'registerBaseline',
        tags: ['baselines'],
        summary: 'Register a baseline, or a part of one; it is active once all parts are there',
        body: registrationSchema,
        response: { 201: baselineSchema, 202: partTakenSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const made = await baselines.register(actorOf(principalOf(request)), request.body);
      return 'next_part' in made ? reply.code(202).send(made) : reply.code(201).send(made);
    },
  );

  server.post(
    '/hosts/:endpoint_id/baselines',
    {
      config: { scope: 'endpoints:write' },
      schema: {
        operationId: 'proposeBaseline',
        tags: ['baselines'],
        summary: 'Propose the last scan of an endpoint as its baseline, for somebody to approve',
        params: hostParamsSchema,
        body: proposalSchema,
        response: { 201: baselineSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      return reply.code(201).send(await baselines.propose(actorOf(principalOf(request)), params.endpoint_id, body));
    },
  );

  for (const [act, operationId, summary] of [
    [
      'approve',
      'approveBaseline',
      'Make a proposal the active baseline; where several people may, not who proposed it',
    ],
    ['reject', 'rejectBaseline', 'Put a proposal away'],
  ] as const)
    server.post(
      `/baselines/:baseline_id/${act}`,
      {
        config: { scope: 'endpoints:write' },
        schema: {
          operationId,
          summary,
          tags: ['baselines'],
          params: baselineParamsSchema,
          body: reasonSchema,
          response: { 200: baselineSchema, ...problemResponses(404, 409) },
        },
      },
      (request) => baselines[act](actorOf(principalOf(request)), request.params.baseline_id, request.body),
    );

  server.get(
    '/baselines/',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'listBaselines',
        tags: ['baselines'],
        summary: 'List baselines, newest first',
        querystring: baselineQuerySchema,
        response: { 200: pageSchema(baselineSchema) },
      },
    },
    ({ query }) => baselines.list(query),
  );

  server.get(
    '/baselines/:baseline_id',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'getBaseline',
        tags: ['baselines'],
        summary: 'Get a baseline without its lines',
        params: baselineParamsSchema,
        response: { 200: baselineSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => baselines.find(params.baseline_id),
  );

  server.get(
    '/baselines/:baseline_id/difference',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'getBaselineDifference',
        tags: ['baselines'],
        summary: 'List what differs between a proposal and the active baseline, or a baseline and the one before',
        params: baselineParamsSchema,
        querystring: pageQuerySchema,
        response: { 200: differencesSchema, ...problemResponses(404) },
      },
    },
    ({ params, query }) => baselines.difference(params.baseline_id, query),
  );
};
