import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { keyHeaderSchema, pageQuerySchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import {
  changeParamsSchema,
  changeQuerySchema,
  changeSchema,
  newWindowSchema,
  windowParamsSchema,
  windowSchema,
} from '../requests/changes.ts';
import { reasonSchema } from '../requests/hosts.ts';
import type { EndpointService } from '../service.ts';

// Over 40 lines: it is a list of routes.
export const changeRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { changes, windows } = service;

  server.get(
    '/changes/',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'listChanges',
        tags: ['changes'],
        summary: 'List what changed alike on however many endpoints, newest first',
        querystring: changeQuerySchema,
        response: { 200: pageSchema(changeSchema) },
      },
    },
    ({ query }) => changes.list(query),
  );

  server.get(
    '/changes/:change_id',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'getChange',
        tags: ['changes'],
        summary: 'Get a change: on how many endpoints it stands, of how many that could have it',
        params: changeParamsSchema,
        response: { 200: changeSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => changes.find(params.change_id),
  );

  server.post(
    '/changes/:change_id/approve',
    {
      config: { scope: 'endpoints:write' },
      schema: {
        operationId: 'approveChange',
        tags: ['changes'],
        summary: 'Say that a change was meant, wherever it stands: it is explained, and less bad',
        params: changeParamsSchema,
        body: reasonSchema,
        response: { 200: changeSchema, ...problemResponses(404) },
      },
    },
    (request) => changes.approve(actorOf(principalOf(request)), request.params.change_id, request.body),
  );

  server.post(
    '/change-windows/',
    {
      config: { scope: 'endpoints:write' },
      schema: {
        operationId: 'openChangeWindow',
        tags: ['changes'],
        summary: 'Quiet changes on endpoints until a time; they are listed under the window all the same',
        headers: keyHeaderSchema,
        body: newWindowSchema,
        response: { 201: windowSchema, ...problemResponses(404) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await windows.open(actorOf(principalOf(request)), request.body, key));
    },
  );

  server.get(
    '/change-windows/',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'listChangeWindows',
        tags: ['changes'],
        summary: 'List change windows, newest first',
        querystring: pageQuerySchema,
        response: { 200: pageSchema(windowSchema) },
      },
    },
    ({ query }) => windows.list(query),
  );

  server.get(
    '/change-windows/:window_id',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'getChangeWindow',
        tags: ['changes'],
        summary: 'Get a change window',
        params: windowParamsSchema,
        response: { 200: windowSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => windows.find(params.window_id),
  );

  for (const [act, operationId, summary] of [
    ['approve', 'approveChangeWindow', 'Say that what a window quieted was meant: it is explained by it, and less bad'],
    ['reopen', 'reopenChangeWindow', 'Open the events that a window quieted'],
  ] as const)
    server.post(
      `/change-windows/:window_id/${act}`,
      {
        config: { scope: 'endpoints:write' },
        schema: {
          operationId,
          summary,
          tags: ['changes'],
          params: windowParamsSchema,
          body: reasonSchema,
          response: { 200: windowSchema, ...problemResponses(404) },
        },
      },
      (request) => windows[act](actorOf(principalOf(request)), request.params.window_id, request.body),
    );
};
