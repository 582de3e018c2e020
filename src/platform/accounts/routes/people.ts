import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { pageQuerySchema } from '../../http/fields.ts';
import { serveOpenApi } from '../../http/openapi.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import type { Accounts } from '../accounts.ts';
import { actorOf } from '../administration.ts';
import {
  newRoleSchema,
  openInvitationSchema,
  personParamsSchema,
  personSchema,
  sentInvitationSchema,
} from '../people-requests.ts';
import { invitationRoutes } from './invitations.ts';

// Over 40 lines: it is a list of routes.
export const peopleRoutes: FastifyPluginAsyncZod<Pick<Accounts, 'people' | 'invitations'>> = async (
  server,
  { people, invitations },
) => {
  await serveOpenApi(server, {
    title: 'People',
    description: 'Who may come in, and as what. Nobody gives a role that may more than they may themselves.',
    schemas: { Person: personSchema, Invitation: sentInvitationSchema, OpenInvitation: openInvitationSchema },
  });

  server.get(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: { scope: 'people:read' },
      schema: {
        operationId: 'listPeople',
        tags: ['people'],
        summary: 'List the people by e-mail address',
        querystring: pageQuerySchema,
        response: { 200: pageSchema(personSchema), ...problemResponses(422) },
      },
    },
    ({ query }) => people.list(query),
  );

  invitationRoutes(server, invitations);

  server.post(
    '/:person_id/role',
    {
      config: { scope: 'people:write' },
      schema: {
        operationId: 'changeRole',
        tags: ['people'],
        summary: 'Give somebody another role',
        params: personParamsSchema,
        body: newRoleSchema,
        response: { 200: personSchema, ...problemResponses(404, 409, 422) },
      },
    },
    (request) => people.changeRole(actorOf(principalOf(request)), request.params.person_id, request.body.role),
  );

  server.post(
    '/:person_id/disable',
    {
      config: { scope: 'people:write' },
      schema: {
        operationId: 'disablePerson',
        tags: ['people'],
        summary: 'Let somebody in no more, and end their sessions',
        params: personParamsSchema,
        response: { 200: personSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => people.disable(actorOf(principalOf(request)), request.params.person_id),
  );

  server.post(
    '/:person_id/enable',
    {
      config: { scope: 'people:write' },
      schema: {
        operationId: 'enablePerson',
        tags: ['people'],
        summary: 'Let somebody in again',
        params: personParamsSchema,
        response: { 200: personSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => people.enable(actorOf(principalOf(request)), request.params.person_id),
  );

  server.post(
    '/:person_id/remove-second-factor',
    {
      config: { scope: 'people:write' },
      schema: {
        operationId: 'removeSecondFactor',
        tags: ['people'],
        summary: 'Remove the authenticator and the passkeys of somebody who lost them',
        params: personParamsSchema,
        response: { 200: personSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => people.removeSecondFactor(actorOf(principalOf(request)), request.params.person_id),
  );
};
