import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { principalOf, requireScope } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { endpointOf } from '../binding.ts';
import {
  baitListSchema,
  baitParamsSchema,
  baitSchema,
  baitStandsSchema,
  newBaitSchema,
  plantedSchema,
  readsSchema,
  readsTakenSchema,
  sensorBaitParamsSchema,
  standingSchema,
} from '../requests/bait.ts';
import { hostParamsSchema } from '../requests/hosts.ts';
import type { EndpointService } from '../service.ts';

/** Bait, for who may make traps and command sensors. */
// Over 40 lines: it is a list of routes.
export const baitRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { bait } = service;

  server.post(
    '/hosts/:endpoint_id/bait',
    {
      config: { scope: 'endpoints:write' },
      schema: {
        operationId: 'plantBait',
        tags: ['bait'],
        summary: 'Make a trap, and have the sensor plant its file; this needs the scope traps:write, too',
        params: hostParamsSchema,
        body: newBaitSchema,
        response: { 201: baitSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      requireScope(principal, 'traps:write');
      return reply.code(201).send(await bait.plant(actorOf(principal), request.params.endpoint_id, request.body));
    },
  );

  server.get(
    '/hosts/:endpoint_id/bait',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'listBait',
        tags: ['bait'],
        summary: 'List the bait of an endpoint, and how it stands',
        params: hostParamsSchema,
        response: { 200: baitListSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => bait.list(params.endpoint_id),
  );

  server.delete(
    '/hosts/:endpoint_id/bait/:bait_id',
    {
      config: { scope: 'endpoints:write' },
      schema: {
        operationId: 'removeBait',
        tags: ['bait'],
        summary:
          'Have the sensor remove a file, if it is the one that it planted; this needs the scope traps:write, too',
        params: baitParamsSchema,
        response: { 200: baitSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => {
      const principal = principalOf(request);
      requireScope(principal, 'traps:write');
      return bait.remove(actorOf(principal), request.params.endpoint_id, request.params.bait_id);
    },
  );
};

/** Bait, for the sensor that plants it. */
// Over 40 lines: it is a list of routes.
export const sensorBaitRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { baitProtocol } = service;

  server.post(
    '/sensor/bait/:bait_id/planted',
    {
      config: { scope: 'endpoints:report' },
      schema: {
        operationId: 'confirmBait',
        tags: ['sensor'],
        summary: 'Say that bait is planted, or why it cannot be',
        params: sensorBaitParamsSchema,
        body: plantedSchema,
        response: { 200: baitStandsSchema, ...problemResponses(404) },
      },
    },
    (request) => baitProtocol.planted(endpointOf(principalOf(request)), request.params.bait_id, request.body),
  );

  server.post(
    '/sensor/bait/:bait_id/standing',
    {
      config: { scope: 'endpoints:report' },
      schema: {
        operationId: 'reportBaitStanding',
        tags: ['sensor'],
        summary: 'Say that bait is not as it was left, or was removed',
        params: sensorBaitParamsSchema,
        body: standingSchema,
        response: { 200: baitStandsSchema, ...problemResponses(404) },
      },
    },
    (request) => baitProtocol.stands(endpointOf(principalOf(request)), request.params.bait_id, request.body),
  );

  server.post(
    '/sensor/bait/reads',
    {
      config: { scope: 'endpoints:report' },
      schema: {
        operationId: 'reportBaitReads',
        tags: ['sensor'],
        summary: 'Say that bait was read: each is a use of its trap, of the depth read',
        body: readsSchema,
        response: { 200: readsTakenSchema },
      },
    },
    (request) => baitProtocol.reads(endpointOf(principalOf(request)), request.body),
  );
};
