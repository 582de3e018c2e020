import type { FastifyPluginAsync } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { serveOpenApi } from '../http/openapi.ts';
import { actorOf, principalOf } from '../http/principal.ts';
import { problemResponses } from '../http/responses.ts';
import { serveOperations } from '../operations/operation.ts';
import { endpointOf } from './host-rows.ts';
import { baitOperations, sensorBaitOperations, sensorOperations } from './operations/bait.ts';
import { baselineOperations } from './operations/baselines.ts';
import { changeOperations } from './operations/changes.ts';
import { eventOperations } from './operations/events.ts';
import { hostOperations, scanOperations } from './operations/hosts.ts';
import { packageOperations } from './operations/packages.ts';
import type { EndpointService } from './service.ts';
import { baitSchema } from './wire/bait.ts';
import { baselineSchema, differenceSchema, registrationSchema } from './wire/baselines.ts';
import { changeSchema, eventSchema, signedArchiveSchema, windowSchema } from './wire/events.ts';
import { hostSchema } from './wire/hosts.ts';
import {
  endpointStatsSchema,
  endpointVerificationSchema,
  partTakenSchema,
  reportTakenSchema,
  scanReportSchema,
  scanSchema,
} from './wire/reports.ts';

/** Routes of the endpoint binary-integrity service, registered under its base path. */
export const endpointRoutes: FastifyPluginAsync<{ service: EndpointService }> = async (server, { service }) => {
  await serveOpenApi(server, {
    title: 'Endpoint binary integrity',
    description:
      'Compares the files that sensors scan on endpoints with approved baselines, and reports differences at the next scan. It blocks nothing and disconnects nothing.',
    schemas: {
      Host: hostSchema,
      Scan: scanSchema,
      ReportTaken: reportTakenSchema,
      Bait: baitSchema,
      Baseline: baselineSchema,
      Difference: differenceSchema,
      EndpointEvent: eventSchema,
      Change: changeSchema,
      ChangeWindow: windowSchema,
      SignedArchive: signedArchiveSchema,
      EndpointStats: endpointStatsSchema,
      EndpointVerification: endpointVerificationSchema,
    },
  });
  for (const operationsOf of [
    hostOperations,
    scanOperations,
    baitOperations,
    baselineOperations,
    eventOperations,
    changeOperations,
    packageOperations,
    sensorOperations,
    sensorBaitOperations,
  ])
    serveOperations(server, operationsOf(service));
  await server.register(partRoutes, { service });
};

/** Maximum size of a part: its lines, with long paths. */
const PART_BYTES = 8 * 2 ** 20;

/** Serves requests that may come in parts, each answered separately. */
// Over 40 lines: it is a list of routes.
const partRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { baselines, reports } = service;

  server.post(
    '/scans/report',
    {
      bodyLimit: PART_BYTES,
      config: { scope: 'endpoints:report' },
      schema: {
        operationId: 'reportScan',
        tags: ['sensor'],
        summary: 'Report a scan or a part of one; the scan is processed after its last part',
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
        summary: 'Register a baseline or a part of one; the baseline is active after its last part',
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
