import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { hangUpOf } from '../../http/caller.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { ownKey, principalOf } from '../../http/principal.ts';
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

/** Forms in which a package is downloaded. */
const DOWNLOADS = [
  {
    form: 'json',
    operationId: 'downloadPackage',
    summary: 'Download a package as JSON, with the entries last',
    response: {
      200: packageHeadSchema.extend({ entries: z.array(entrySchema) }),
      304: z.undefined().describe('The package matches the ETag in If-None-Match.'),
    },
  },
  {
    form: 'summary',
    operationId: 'downloadSummary',
    summary: 'Download the summary of a package, without its entries',
    response: { 200: summarySchema },
  },
  {
    form: 'pdf',
    operationId: 'downloadPdf',
    summary: 'Download a package as PDF',
    response: { 200: { description: 'A PDF document', content: { 'application/pdf': { schema: z.string() } } } },
  },
] as const;

/** Sends the summary and the package as the text that was fixed when the package was generated. */
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
    async (request, reply) => {
      const { body, headers } = request;
      const key = ownKey(principalOf(request), headers['idempotency-key']);
      const { package: generated, repeated } = await service.evidence.generate(body, key, hangUpOf(reply));
      return reply.code(repeated ? 200 : 201).send(generated);
    },
  );

  for (const { form, response, ...said } of DOWNLOADS)
    server.get(
      `/evidence/:package_id/${form}`,
      {
        config: { scope: 'audit:read' },
        schema: {
          ...said,
          tags: ['evidence'],
          params: packageParamsSchema,
          response: { ...response, ...problemResponses(404, 409) },
        },
      },
      ({ params }, reply) => sendPackage(service, params.package_id, form, reply) as never,
    );
};
