import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { actorOf } from '../accounts/administration.ts';
import { keyHeaderSchema } from '../http/fields.ts';
import { serveOpenApi } from '../http/openapi.ts';
import { principalOf } from '../http/principal.ts';
import { problemResponses } from '../http/responses.ts';
import type { AlertChannels } from './channels.ts';
import {
  alertChannelParamsSchema,
  alertChannelSchema,
  alertTestSchema,
  madeAlertChannelSchema,
  newAlertChannelSchema,
} from './requests.ts';

const listSchema = z.object({ data: z.array(alertChannelSchema) });

// Over 40 lines: it is a list of routes.
export const alertRoutes: FastifyPluginAsyncZod<{ channels: AlertChannels }> = async (server, { channels }) => {
  await serveOpenApi(server, {
    title: 'Alerts',
    description: 'Where people are told of what the services find.',
    schemas: { AlertChannel: alertChannelSchema },
  });

  server.get(
    '/channels/',
    {
      config: { scope: 'alerts:read' },
      schema: {
        operationId: 'listAlertChannels',
        tags: ['channels'],
        summary: 'List where people are told of what services find',
        response: { 200: listSchema },
      },
    },
    async () => ({ data: await channels.list() }),
  );

  server.post(
    '/channels/',
    {
      config: { scope: 'alerts:write' },
      schema: {
        operationId: 'addAlertChannel',
        tags: ['channels'],
        summary:
          'Have what services find told to a webhook or an e-mail address; the secret of a webhook is answered this once',
        headers: keyHeaderSchema,
        body: newAlertChannelSchema,
        response: { 201: madeAlertChannelSchema, ...problemResponses(409, 422) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await channels.add(actorOf(principalOf(request)), request.body, key));
    },
  );

  server.post(
    '/channels/:alert_channel_id/test',
    {
      config: { scope: 'alerts:write' },
      schema: {
        operationId: 'testAlertChannel',
        tags: ['channels'],
        summary: 'Send an alert that says that it is a test',
        params: alertChannelParamsSchema,
        response: { 202: alertTestSchema, ...problemResponses(404) },
      },
    },
    async (request, reply) => reply.code(202).send(await channels.test(request.params.alert_channel_id)),
  );

  server.delete(
    '/channels/:alert_channel_id',
    {
      config: { scope: 'alerts:write' },
      schema: {
        operationId: 'removeAlertChannel',
        tags: ['channels'],
        summary: 'Tell nothing more to a webhook or an e-mail address',
        params: alertChannelParamsSchema,
        response: { 200: alertChannelSchema, ...problemResponses(404) },
      },
    },
    (request) => channels.remove(actorOf(principalOf(request)), request.params.alert_channel_id),
  );
};
