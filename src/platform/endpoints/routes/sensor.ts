import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { endpointOf } from '../binding.ts';
import { boundKeySchema, keyBindingSchema, settingsSchema } from '../requests/hosts.ts';
import { partTakenSchema, reportTakenSchema, scanReportSchema } from '../requests/reports.ts';
import type { EndpointService } from '../service.ts';

/** The lines of a part, with long paths. */
const REPORT_BYTES = 8 * 2 ** 20;

/** Routes for the sensor on an endpoint, which has one token that is bound to it. */
// Over 40 lines: it is a list of routes.
export const sensorRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { sensors, reports } = service;

  server.get(
    '/sensor/settings',
    {
      config: { scope: 'endpoints:report' },
      schema: {
        operationId: 'getSensorSettings',
        tags: ['sensor'],
        summary: 'Get what this endpoint is to scan, and what its next report has to say',
        response: { 200: settingsSchema },
      },
    },
    (request) => sensors.settings(endpointOf(principalOf(request))),
  );

  server.post(
    '/sensor/key',
    {
      config: { scope: 'endpoints:report' },
      schema: {
        operationId: 'bindSensorKey',
        tags: ['sensor'],
        summary: 'Bind the key that signs the reports of this endpoint; another one is refused',
        body: keyBindingSchema,
        response: { 200: boundKeySchema, ...problemResponses(409) },
      },
    },
    (request) => sensors.bindKey(endpointOf(principalOf(request)), request.body),
  );

  server.post(
    '/scans/report',
    {
      bodyLimit: REPORT_BYTES,
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
};
