import type { z } from 'zod';
import { pageQuerySchema } from '../../http/fields.ts';
import type { Actor } from '../../http/principal.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { Accounts } from '../accounts.ts';
import { newRoleSchema, personParamsSchema, personSchema } from '../wire.ts';

const PEOPLE = operationGroup('people', 'people');

export function peopleOperations(people: Accounts['people']) {
  const act = (
    name: string,
    summary: string,
    work: (actor: Actor, personId: string) => Promise<z.input<typeof personSchema>>,
  ) =>
    PEOPLE.post(`/:person_id/${name}`, {
      summary,
      params: personParamsSchema,
      answer: personSchema,
      refusals: [404, 409],
      work: ({ actor, params }) => work(actor, params.person_id),
    });
  return {
    listPeople: PEOPLE.get('/', {
      summary: 'List the people by e-mail address',
      query: pageQuerySchema,
      answer: pageSchema(personSchema),
      refusals: [422],
      work: ({ query }) => people.list(query),
    }),
    changeRole: PEOPLE.post('/:person_id/role', {
      summary: 'Change the role of a person',
      params: personParamsSchema,
      body: newRoleSchema,
      answer: personSchema,
      refusals: [404, 409, 422],
      work: ({ actor, params, body }) => people.changeRole(actor, params.person_id, body.role),
    }),
    disablePerson: act('disable', 'Disable an account and end its sessions', (actor, id) => people.disable(actor, id)),
    enablePerson: act('enable', 'Enable a disabled account', (actor, id) => people.enable(actor, id)),
    removeSecondFactor: act(
      'remove-second-factor',
      'Remove the authenticator and the passkeys of a person who lost them',
      (actor, id) => people.removeSecondFactor(actor, id),
    ),
  };
}
