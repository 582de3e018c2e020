import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { hangUpOf } from '../../http/caller.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { problemResponses } from '../../http/responses.ts';
import { sendPackage } from '../packages.ts';
import type { AuditService } from '../service.ts';
import {
  entrySchema,
  generatedSchema,
  generateSchema,
  packageHeadSchema,
  packageParamsSchema,
  summarySchema,
} from '../wire.ts';

const params = packageParamsSchema;

/** The summary and the package are sent as the text that was settled when the package was generated. */
// Over 40 lines: it is a list of routes.
export const evidenceRoutes: FastifyPluginAsyncZod<{ service: AuditService }> = async (server, { service }) => {
  server.post(
    '/evidence/generate',
    {
      config: { scope: 'audit:export' },
      schema: {
        operationId: 'generatePackage',
        tags: ['evidence'],
        summary: 'Generate an evidence package of a stream, or of a period of it',
        headers: keyHeaderSchema,
        body: generateSchema,
        response: { 201: generatedSchema, 200: generatedSchema, ...problemResponses(404, 422) },
      },
    },
    async ({ body, headers }, reply) => {
      const key = headers['idempotency-key'];
      const { package: generated, repeated } = await service.evidence.generate(body, key, hangUpOf(reply));
      return reply.code(repeated ? 200 : 201).send(generated);
    },
  );

  server.get(
    '/evidence/:package_id/json',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'downloadPackage',
        tags: ['evidence'],
        summary: 'The package as JSON, entries last',
        params,
        response: {
          200: packageHeadSchema.extend({ entries: z.array(entrySchema) }),
          304: z.undefined().describe('The ETag that If-None-Match names is its own.'),
          ...problemResponses(404, 409),
        },
      },
    },
    ({ params }, reply) => sendPackage(service, params.package_id, 'json', reply) as never,
  );

  server.get(
    '/evidence/:package_id/summary',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'downloadSummary',
        tags: ['evidence'],
        summary: 'The facts of the package without its entries',
        params,
        response: { 200: summarySchema, ...problemResponses(404, 409) },
      },
    },
    ({ params }, reply) => sendPackage(service, params.package_id, 'summary', reply) as never,
  );

  server.get(
    '/evidence/:package_id/pdf',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'downloadPdf',
        tags: ['evidence'],
        summary: 'The package as a document',
        params,
        response: {
          200: { description: 'A PDF document', content: { 'application/pdf': { schema: z.string() } } },
          ...problemResponses(404, 409),
        },
      },
    },
    ({ params }, reply) => sendPackage(service, params.package_id, 'pdf', reply) as never,
  );
};
