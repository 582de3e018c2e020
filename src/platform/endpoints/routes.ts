import type { FastifyPluginAsync } from 'fastify';
import { serveOpenApi } from '../http/openapi.ts';
import { serveOperations } from '../operations/operation.ts';
import { baitOperations, sensorBaitOperations, sensorOperations } from './operations/bait.ts';
import { baselineOperations } from './operations/baselines.ts';
import { changeOperations } from './operations/changes.ts';
import { eventOperations } from './operations/events.ts';
import { hostOperations, scanOperations } from './operations/hosts.ts';
import { packageOperations } from './operations/packages.ts';
import { partRoutes } from './routes/parts.ts';
import type { EndpointService } from './service.ts';
import { baitSchema } from './wire/bait.ts';
import { baselineSchema, differenceSchema } from './wire/baselines.ts';
import { changeSchema, windowSchema } from './wire/changes.ts';
import { eventSchema } from './wire/events.ts';
import { hostSchema } from './wire/hosts.ts';
import { signedArchiveSchema } from './wire/packages.ts';
import { reportTakenSchema, scanSchema } from './wire/reports.ts';
import { endpointStatsSchema, endpointVerificationSchema } from './wire/verification.ts';

/** The endpoint binary-integrity service, to be registered under its base path. */
export const endpointRoutes: FastifyPluginAsync<{ service: EndpointService }> = async (server, { service }) => {
  await serveOpenApi(server, {
    title: 'Endpoint binary integrity',
    description:
      'Compares what sensors read on endpoints with baselines that somebody approved, and tells of what differs at the next scan. It stops nothing and cuts nothing off.',
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
