import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { actorOf } from '../../accounts/administration.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import {
  alertChannelParamsSchema,
  alertChannelSchema,
  alertTestSchema,
  madeAlertChannelSchema,
  newAlertChannelSchema,
} from '../requests.ts';
import type { TrapService } from '../service.ts';

const listSchema = z.object({ data: z.array(alertChannelSchema) });

// Over 40 lines: it is a list of routes.
export const alertChannelRoutes: FastifyPluginAsyncZod<{ service: TrapService }> = async (server, { service }) => {
  const { alertChannels } = service;

  server.get(
    '/alert-channels/',
    {
      config: { scope: 'traps:read' },
      schema: {
        operationId: 'listAlertChannels',
        tags: ['alerts'],
        summary: 'List where people are told of detections',
        response: { 200: listSchema },
      },
    },
    async () => ({ data: await alertChannels.list() }),
  );

  server.post(
    '/alert-channels/',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'addAlertChannel',
        tags: ['alerts'],
        summary:
          'Have detections told to a webhook or an e-mail address; the secret of a webhook is answered this once',
        headers: keyHeaderSchema,
        body: newAlertChannelSchema,
        response: { 201: madeAlertChannelSchema, ...problemResponses(409, 422) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await alertChannels.add(actorOf(principalOf(request)), request.body, key));
    },
  );

  server.post(
    '/alert-channels/:alert_channel_id/test',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'testAlertChannel',
        tags: ['alerts'],
        summary: 'Send an alert that says that it is a test',
        params: alertChannelParamsSchema,
        response: { 202: alertTestSchema, ...problemResponses(404) },
      },
    },
    async (request, reply) => reply.code(202).send(await alertChannels.test(request.params.alert_channel_id)),
  );

  server.delete(
    '/alert-channels/:alert_channel_id',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'removeAlertChannel',
        tags: ['alerts'],
        summary: 'Tell nothing more to a webhook or an e-mail address',
        params: alertChannelParamsSchema,
        response: { 200: alertChannelSchema, ...problemResponses(404) },
      },
    },
    (request) => alertChannels.remove(actorOf(principalOf(request)), request.params.alert_channel_id),
  );
};
