import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf, principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { endpointOf } from '../binding.ts';
import type { EndpointService } from '../service.ts';
import { baselineSchema, registrationSchema } from '../wire/baselines.ts';
import { partTakenSchema, reportTakenSchema, scanReportSchema } from '../wire/reports.ts';

/** The lines of a part, with long paths. */
const PART_BYTES = 8 * 2 ** 20;

/** Serves what may come in parts, each with an answer of its own. */
// Over 40 lines: it is a list of routes.
export const partRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { baselines, reports } = service;

  server.post(
    '/scans/report',
    {
      bodyLimit: PART_BYTES,
      config: { scope: 'endpoints:report' },
      schema: {
        operationId: 'reportScan',
        tags: ['sensor'],
        summary: 'Report a scan, or a part of it; what follows from it is there once all parts are',
        body: scanReportSchema,
        response: { 201: reportTakenSchema, 202: partTakenSchema, ...problemResponses(409) },
      },
    },
    async (request, reply) => {
      const answer = await reports.take(endpointOf(principalOf(request)), request.body);
      return 'taken' in answer ? reply.code(201).send(answer.taken) : reply.code(202).send(answer);
    },
  );

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
};
