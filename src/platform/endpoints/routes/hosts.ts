import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import {
  enrolledSchema,
  enrolmentSchema,
  hostParamsSchema,
  hostQuerySchema,
  hostSchema,
  reasonSchema,
} from '../requests/hosts.ts';
import { scanQuerySchema, scanSchema } from '../requests/reports.ts';
import { endpointStatsSchema, endpointVerificationSchema } from '../requests/verification.ts';
import type { EndpointService } from '../service.ts';

// Over 40 lines: it is a list of routes.
export const hostRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { hosts, reports, verifying } = service;

  server.post(
    '/enroll',
    {
      config: { scope: 'endpoints:write' },
      schema: {
        operationId: 'enrollEndpoint',
        tags: ['hosts'],
        summary: 'Enrol an endpoint; its token is answered this once, and no baseline is registered',
        headers: keyHeaderSchema,
        body: enrolmentSchema,
        response: { 201: enrolledSchema, ...problemResponses(409) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await hosts.enroll(actorOf(principalOf(request)), request.body, key));
    },
  );

  server.get(
    '/hosts/',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'listHosts',
        tags: ['hosts'],
        summary: 'List endpoints, newest first',
        querystring: hostQuerySchema,
        response: { 200: pageSchema(hostSchema) },
      },
    },
    ({ query }) => hosts.list(query),
  );

  server.get(
    '/hosts/:endpoint_id',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'getHost',
        tags: ['hosts'],
        summary: 'Get an endpoint: how it stands, and when it reported last',
        params: hostParamsSchema,
        response: { 200: hostSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => hosts.find(params.endpoint_id),
  );

  for (const [act, operationId, summary] of [
    ['isolate', 'isolateHost', 'Label an endpoint as isolated; this is a label, and cuts nothing off the network'],
    ['release', 'releaseHost', 'Take the label of isolation away'],
    ['restart', 'restartHost', 'Let a machine begin a new chain of reports, with a key of its choice'],
    ['retire', 'retireHost', 'End an endpoint: its token is revoked, and nobody waits for its reports'],
  ] as const)
    server.post(
      `/hosts/:endpoint_id/${act}`,
      {
        config: { scope: 'endpoints:write' },
        schema: {
          operationId,
          summary,
          tags: ['hosts'],
          params: hostParamsSchema,
          body: reasonSchema,
          response: { 200: hostSchema, ...problemResponses(404, 409) },
        },
      },
      (request) => hosts[act](actorOf(principalOf(request)), request.params.endpoint_id, request.body),
    );

  server.post(
    '/hosts/:endpoint_id/verify',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'verifyHost',
        tags: ['hosts'],
        summary: 'Check the reports of an endpoint against their signatures, their lines and the audit stream',
        params: hostParamsSchema,
        response: { 200: endpointVerificationSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => verifying.verify(params.endpoint_id),
  );

  server.get(
    '/scans/',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'listScans',
        tags: ['hosts'],
        summary: 'List scans that were reported, newest first',
        querystring: scanQuerySchema,
        response: { 200: pageSchema(scanSchema) },
      },
    },
    ({ query }) => reports.list(query),
  );

  server.get(
    '/stats/',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'getEndpointStats',
        tags: ['hosts'],
        summary: 'Count endpoints, and what is wrong on them',
        response: { 200: endpointStatsSchema },
      },
    },
    () => service.stats(),
  );
};
