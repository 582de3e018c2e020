import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operation } from '../../operations/operation.ts';
import type { Accounts } from '../accounts.ts';
import { newRoleSchema, personParamsSchema, personSchema } from '../people-requests.ts';

/** Returns the operations on people. */
// Over 40 lines: it is the list of operations.
export function peopleOperations(people: Accounts['people']) {
  return {
    listPeople: operation({
      method: 'GET',
      path: '/',
      scope: 'people:read',
      tag: 'people',
      summary: 'List the people by e-mail address',
      query: pageQuerySchema,
      answer: pageSchema(personSchema),
      refusals: [422],
      work: ({ query }) => people.list(query),
    }),
    changeRole: operation({
      method: 'POST',
      path: '/:person_id/role',
      scope: 'people:write',
      tag: 'people',
      summary: 'Give somebody another role',
      params: personParamsSchema,
      body: newRoleSchema,
      answer: personSchema,
      refusals: [404, 409, 422],
      work: ({ actor, params, body }) => people.changeRole(actor, params.person_id, body.role),
    }),
    disablePerson: operation({
      method: 'POST',
      path: '/:person_id/disable',
      scope: 'people:write',
      tag: 'people',
      summary: 'Let somebody in no more, and end their sessions',
      params: personParamsSchema,
      answer: personSchema,
      refusals: [404, 409],
      work: ({ actor, params }) => people.disable(actor, params.person_id),
    }),
    enablePerson: operation({
      method: 'POST',
      path: '/:person_id/enable',
      scope: 'people:write',
      tag: 'people',
      summary: 'Let somebody in again',
      params: personParamsSchema,
      answer: personSchema,
      refusals: [404, 409],
      work: ({ actor, params }) => people.enable(actor, params.person_id),
    }),
    removeSecondFactor: operation({
      method: 'POST',
      path: '/:person_id/remove-second-factor',
      scope: 'people:write',
      tag: 'people',
      summary: 'Remove the authenticator and the passkeys of somebody who lost them',
      params: personParamsSchema,
      answer: personSchema,
      refusals: [404, 409],
      work: ({ actor, params }) => people.removeSecondFactor(actor, params.person_id),
    }),
  };
}
