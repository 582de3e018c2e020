import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { entrySchema } from '../audit/api.ts';
import { pageQuerySchema, text } from '../http/fields.ts';
import { serveOpenApi } from '../http/openapi.ts';
import { actorOf, principalOf } from '../http/principal.ts';
import { problemResponses } from '../http/responses.ts';
import { pageSchema } from '../http/wire.ts';
import type { AdministrationService } from './service.ts';

const time = z.string();

const deadLetterSchema = z.object({
  message_id: z.string(),
  kind: z.string(),
  created_at: time,
  attempts: z.int(),
  ended_at: time.nullable(),
  last_error: z.string().nullable(),
});

const replayedSchema = z.object({ message_id: z.string() });

// Over 40 lines: it is a list of routes.
export const administrationRoutes: FastifyPluginAsyncZod<{ service: AdministrationService }> = async (
  server,
  { service },
) => {
  await serveOpenApi(server, {
    title: 'Administration',
    description:
      'What was done to who may do what, as entries of the stream platform/administration, and messages that could not be delivered.',
    schemas: { Act: entrySchema, JsonValue: entrySchema.shape.metadata.valueType, DeadLetter: deadLetterSchema },
  });

  server.get(
    '/acts',
    {
      config: { scope: 'administration:read' },
      schema: {
        operationId: 'listActs',
        tags: ['administration'],
        summary: 'List administrative acts, newest first',
        querystring: pageQuerySchema,
        response: { 200: pageSchema(entrySchema), ...problemResponses(422) },
      },
    },
    ({ query }) => service.acts(query),
  );

  server.get(
    '/dead-letters',
    {
      config: { scope: 'administration:read' },
      schema: {
        operationId: 'listDeadLetters',
        tags: ['administration'],
        summary: 'List messages that nobody tries to deliver any more, newest first',
        querystring: pageQuerySchema,
        response: { 200: pageSchema(deadLetterSchema), ...problemResponses(422) },
      },
    },
    ({ query }) => service.deadLetters(query),
  );

  server.post(
    '/dead-letters/:message_id/replay',
    {
      config: { scope: 'administration:write' },
      schema: {
        operationId: 'replayDeadLetter',
        tags: ['administration'],
        summary: 'Have a message delivered again, from the first attempt on',
        params: z.object({ message_id: text }),
        response: { 200: replayedSchema, ...problemResponses(404, 409) },
      },
    },
    async (request) => {
      const { message_id } = request.params;
      await service.replay(actorOf(principalOf(request)), message_id);
      return { message_id };
    },
  );
};
