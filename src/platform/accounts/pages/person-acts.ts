import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { idempotencyKey } from '../../http/fields.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { paramsOf } from '../../web/asked.ts';
import type { ApiCall } from '../../web/curl.ts';
import { type Choice, choices, emailField, onceField, postForm } from '../../web/fields.ts';
import { serveForm } from '../../web/forms.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import type { Accounts } from '../accounts.ts';
import { peopleOperations } from '../operations/people.ts';
import type { Person } from '../people.ts';
import { invitationSchema, newRoleSchema, personParamsSchema } from '../wire.ts';
import type { AccountPageParts } from './parts.ts';
import { PEOPLE_PATH, personPath } from './paths.ts';

const ABOVE = [{ title: 'People', path: PEOPLE_PATH }];

/** People who let others in prove again who they are. */
const LETTING_IN = { scope: 'people:write', proved: true } as const;

const ROLE_CHOICES: readonly Choice[] = [
  { value: 'owner', label: 'Owner', hint: 'may do everything, and says who may come in' },
  { value: 'operator', label: 'Operator', hint: 'runs the services, and makes API keys' },
  { value: 'auditor', label: 'Auditor', hint: 'reads everything, and verifies' },
];

/** Pages for the acts of owners on people. */
export function personActPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  invitePage(server, accounts);
  rolePage(server, accounts);
  for (const act of ACTS) actPage(server, accounts, act);
}

function invitePage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/people/invite',
    access: LETTING_IN,
    schema: z.object({ once: idempotencyKey, ...invitationSchema.shape }),
    fields: { conflict: 'email' },
    show: (form, request, reply) => {
      const values = { role: 'auditor', ...form.values };
      const email = emailField(form, { autocomplete: 'off', isFirst: true });
      const role = choices({ ...form, values }, { name: 'role', label: 'Role', type: 'radio' }, ROLE_CHOICES);
      return {
        title: 'Invite somebody',
        isNarrow: true,
        above: ABOVE,
        introduction: 'They get a letter with a link, which is good once, for 24 hours.',
        content: [postForm({ request, reply, form }, { fields: [onceField(form), email, role], submit: 'Invite' })],
        api: { method: 'POST', path: '/people/invitations', body: EXAMPLE },
      };
    },
    async act({ once, ...invited }, request, reply) {
      await accounts.invitations.invite(actorOf(principalOf(request)), invited, once);
      leaveNotice(reply, `A letter to ${invited.email} is on its way.`);
      return PEOPLE_PATH;
    },
  });
}

const EXAMPLE = { email: 'somebody@example.com', role: 'auditor' };

function rolePage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/people/:person_id/role',
    access: LETTING_IN,
    params: personParamsSchema,
    schema: z.object(newRoleSchema.shape),
    fields: { conflict: 'role', forbidden: 'role' },
    async show(form, request, reply) {
      const person = await accounts.people.find(idOf(request));
      const values = { role: person.role, ...form.values };
      return {
        title: `Change the role of ${person.name}`,
        isNarrow: true,
        above: aboveOf(person),
        content: [
          postForm(
            { request, reply, form },
            {
              fields: choices({ ...form, values }, { name: 'role', label: 'Role', type: 'radio' }, ROLE_CHOICES),
              submit: 'Change it',
            },
          ),
        ],
        api: roleCall(person),
      };
    },
    async act({ role }, request, reply) {
      const { name } = await accounts.people.changeRole(actorOf(principalOf(request)), idOf(request), role);
      leaveNotice(reply, `${name} is ${role} now.`);
      return personPath(idOf(request));
    },
  });
}

function roleCall({ person_id, role }: Person): ApiCall {
  return { method: 'POST', path: `/people/${person_id}/role`, body: { role } };
}

/** Something that is done to somebody with one button. */
interface PersonAct {
  path: string;
  operation: 'disablePerson' | 'enablePerson' | 'removeSecondFactor';
  title(name: string): string;
  introduction: string;
  submit: string;
  isFinal: boolean;
  done(name: string): string;
}

const ACTS: readonly PersonAct[] = [
  {
    path: 'disable',
    operation: 'disablePerson',
    title: (name) => `Disable ${name}`,
    introduction: 'They come in no more, and their sessions end at once. API keys that they made stay as they are.',
    submit: 'Disable',
    isFinal: true,
    done: (name) => `${name} comes in no more.`,
  },
  {
    path: 'enable',
    operation: 'enablePerson',
    title: (name) => `Let ${name} in again`,
    introduction: 'With the password and the second factor that they had.',
    submit: 'Let in',
    isFinal: false,
    done: (name) => `${name} may come in again.`,
  },
  {
    path: 'second-factor',
    operation: 'removeSecondFactor',
    title: (name) => `Remove the second factor of ${name}`,
    introduction:
      'For somebody who lost it: their authenticator and their passkeys. Their password alone then lets them in. They get a letter that says so.',
    submit: 'Remove it',
    isFinal: true,
    done: (name) => `The second factor of ${name} was removed.`,
  },
];

function actPage(server: FastifyInstance, { people }: Accounts, act: PersonAct): void {
  const { path, operation, title, done, ...words } = act;
  serveOperationAct(server, peopleOperations(people)[operation], {
    path: `/people/:person_id/${path}`,
    api: '/people',
    access: LETTING_IN,
    subject: ({ person_id }) => people.find(person_id),
    view: (person) => ({
      ...words,
      title: title(person.name),
      above: aboveOf(person),
      back: personPath(person.person_id),
    }),
    notice: ({ name }) => done(name),
  });
}

function aboveOf({ name, person_id }: Person): { title: string; path: string }[] {
  return [...ABOVE, { title: name, path: personPath(person_id) }];
}

function idOf(request: FastifyRequest): string {
  return paramsOf<{ person_id: string }>(request).person_id;
}
