import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { keyHeaderSchema, pageQuerySchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import { actorOf } from '../administration.ts';
import type { Invitations } from '../invitations.ts';
import {
  invitationParamsSchema,
  invitationSchema,
  openInvitationSchema,
  sentInvitationSchema,
} from '../people-requests.ts';

type Server = Parameters<FastifyPluginAsyncZod>[0];

// Over 40 lines: it is a list of routes.
export function invitationRoutes(server: Server, invitations: Invitations): void {
  server.get(
    '/invitations',
    {
      config: { scope: 'people:read' },
      schema: {
        operationId: 'listInvitations',
        tags: ['people'],
        summary: 'List the open invitations, those that end first first',
        querystring: pageQuerySchema,
        response: { 200: pageSchema(openInvitationSchema), ...problemResponses(422) },
      },
    },
    ({ query }) => invitations.list(query),
  );

  server.post(
    '/invitations',
    {
      config: { scope: 'people:write' },
      schema: {
        operationId: 'invitePerson',
        tags: ['people'],
        summary: 'Send somebody a link to an account, which works once and for a day',
        headers: keyHeaderSchema,
        body: invitationSchema,
        response: { 201: sentInvitationSchema, ...problemResponses(409, 422) },
      },
    },
    async (request, reply) => {
      const { body, headers } = request;
      const sent = await invitations.invite(actorOf(principalOf(request)), body, headers['idempotency-key']);
      return reply.code(201).send({ ...sent, ...body });
    },
  );

  server.post(
    '/invitations/:link_id/withdraw',
    {
      config: { scope: 'people:write' },
      schema: {
        operationId: 'withdrawInvitation',
        tags: ['people'],
        summary:
          'Make the link of an invitation no good any more, and hold back its letter where that was not sent yet',
        params: invitationParamsSchema,
        response: { 200: sentInvitationSchema, ...problemResponses(404) },
      },
    },
    (request) => invitations.withdraw(actorOf(principalOf(request)), request.params.link_id),
  );

  server.post(
    '/invitations/:link_id/send-again',
    {
      config: { scope: 'people:write' },
      schema: {
        operationId: 'sendInvitationAgain',
        tags: ['people'],
        summary: 'Mail the same link again, which is good for a day from now on',
        params: invitationParamsSchema,
        response: { 200: openInvitationSchema, ...problemResponses(404) },
      },
    },
    (request) => invitations.sendAgain(actorOf(principalOf(request)), request.params.link_id),
  );
}
