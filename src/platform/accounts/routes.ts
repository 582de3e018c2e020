import type { FastifyInstance } from 'fastify';
import { serveOpenApi } from '../http/openapi.ts';
import { serveOperations } from '../operations/operation.ts';
import type { Accounts } from './accounts.ts';
import type { ApiKeys } from './keys.ts';
import { invitationOperations } from './operations/invitations.ts';
import { keyOperations } from './operations/keys.ts';
import { peopleOperations } from './operations/people.ts';
import { signUpOperations } from './operations/sign-ups.ts';
import {
  apiKeySchema,
  issuedKeySchema,
  madeKeySchema,
  openInvitationSchema,
  personSchema,
  sentInvitationSchema,
  signUpSchema,
} from './wire.ts';

/** Serves API keys under the base path of their service. */
export async function serveKeys(server: FastifyInstance, keys: ApiKeys): Promise<void> {
  await serveOpenApi(server, {
    title: 'API keys',
    description:
      'Creates, rotates and revokes the API keys of the platform. A key cannot grant scopes that it does not have.',
    schemas: { ApiKey: apiKeySchema, MadeApiKey: madeKeySchema, IssuedApiKey: issuedKeySchema },
  });
  serveOperations(server, keyOperations(keys));
}

/** Serves people and invitations under the base path of their service. */
export async function servePeople(
  server: FastifyInstance,
  { people, invitations, signUps }: Pick<Accounts, 'people' | 'invitations' | 'signUps'>,
): Promise<void> {
  await serveOpenApi(server, {
    title: 'People',
    description:
      'People with access, their roles, and those who wait for it. Nobody can grant a role with more rights than their own.',
    schemas: {
      Person: personSchema,
      Invitation: sentInvitationSchema,
      OpenInvitation: openInvitationSchema,
      SignUp: signUpSchema,
    },
  });
  serveOperations(server, peopleOperations(people));
  serveOperations(server, invitationOperations(invitations));
  serveOperations(server, signUpOperations({ people, signUps }));
}
