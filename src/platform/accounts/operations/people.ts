import type { z } from 'zod';
import { pageQuerySchema } from '../../http/fields.ts';
import type { Actor } from '../../http/principal.ts';
import { pageSchema } from '../../http/wire.ts';
import { operation } from '../../operations/operation.ts';
import type { Accounts } from '../accounts.ts';
import { newRoleSchema, personParamsSchema, personSchema } from '../wire.ts';

/** Returns the operations on people. */
// Over 40 lines: it is the list of operations.
export function peopleOperations(people: Accounts['people']) {
  const act = (
    name: string,
    summary: string,
    work: (actor: Actor, personId: string) => Promise<z.input<typeof personSchema>>,
  ) =>
    operation({
      method: 'POST',
      path: `/:person_id/${name}`,
      scope: 'people:write',
      tag: 'people',
      summary,
      params: personParamsSchema,
      answer: personSchema,
      refusals: [404, 409],
      work: ({ actor, params }) => work(actor, params.person_id),
    });
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
    disablePerson: act('disable', 'Let somebody in no more, and end their sessions', (actor, id) =>
      people.disable(actor, id),
    ),
    enablePerson: act('enable', 'Let somebody in again', (actor, id) => people.enable(actor, id)),
    removeSecondFactor: act(
      'remove-second-factor',
      'Remove the authenticator and the passkeys of somebody who lost them',
      (actor, id) => people.removeSecondFactor(actor, id),
    ),
  };
}
