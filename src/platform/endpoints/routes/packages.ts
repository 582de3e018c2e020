import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { pageSchema } from '../../http/wire.ts';
import { packagesQuerySchema, signedArchiveSchema } from '../requests/packages.ts';
import type { EndpointService } from '../service.ts';

export const packageRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  server.get(
    '/packages/',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'listSignedArchives',
        tags: ['packages'],
        summary: 'List the signed archives whose packages explain changes, newest first',
        description:
          'Archives are imported by `evidence-platform packages import`. `packages` were first listed by this archive; the files of those that are `opened` are known.',
        querystring: packagesQuerySchema,
        response: { 200: pageSchema(signedArchiveSchema) },
      },
    },
    ({ query }) => service.archives(query),
  );
};
