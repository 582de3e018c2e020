import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Markup } from '../../../core/html/markup.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
import type { NamedAct } from '../../web/acts.ts';
import { type Choice, choices, emailField, onceField } from '../../web/fields.ts';
import type { FormState } from '../../web/forms.ts';
import type { Accounts } from '../accounts.ts';
import { invitationOperations } from '../operations/invitations.ts';
import { peopleOperations } from '../operations/people.ts';
import type { Person } from '../people.ts';
import { invitationSchema, newRoleSchema } from '../wire.ts';
import type { AccountPageParts } from './parts.ts';
import { PEOPLE_PATH, personPath } from './paths.ts';

const ABOVE = [{ title: 'People', path: PEOPLE_PATH }];

/** Access to pages that let people in, which requires a fresh authentication. */
const LETTING_IN = { scope: 'people:write', proved: true } as const;

const ROLE_CHOICES: readonly Choice[] = [
  { value: 'owner', label: 'Owner', hint: 'has all rights and manages people' },
  { value: 'operator', label: 'Operator', hint: 'runs the services and manages API keys' },
  { value: 'auditor', label: 'Auditor', hint: 'reads and verifies everything' },
];

/** Pages for the acts of owners on people. */
export function personActPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  invitePage(server, accounts);
  rolePage(server, accounts);
  for (const act of ACTS) actPage(server, accounts, act);
}

function invitePage(server: FastifyInstance, accounts: Accounts): void {
  serveOperationForm(server, invitationOperations(accounts.invitations).invitePerson, {
    path: '/people/invite',
    api: '/people',
    access: LETTING_IN,
    schema: z.object({ once: idempotencyKey, ...invitationSchema.shape }),
    refused: { conflict: 'email' },
    view: ({ form }) => ({
      title: 'Invite somebody',
      isNarrow: true,
      above: ABOVE,
      introduction: 'They get a mail with a link that works once, within 24 hours.',
      fields: [onceField(form), emailField(form, { autocomplete: 'off', isFirst: true }), roleField(form, 'auditor')],
      submit: 'Invite',
    }),
    example: () => EXAMPLE,
    done: ({ email }) => ({ notice: `The invitation to ${email} is queued.`, next: PEOPLE_PATH }),
  });
}

function roleField(form: FormState, role: string): Markup {
  const values = { role, ...form.values };
  return choices({ ...form, values }, { name: 'role', label: 'Role', type: 'radio' }, ROLE_CHOICES);
}

const EXAMPLE = { email: 'somebody@example.com', role: 'auditor' };

function rolePage(server: FastifyInstance, accounts: Accounts): void {
  serveOperationForm(server, peopleOperations(accounts.people).changeRole, {
    path: '/people/:person_id/role',
    api: '/people',
    access: LETTING_IN,
    schema: z.object(newRoleSchema.shape),
    refused: { conflict: 'role', forbidden: 'role' },
    subject: ({ person_id }) => accounts.people.find(person_id),
    view: ({ form }, person) => ({
      title: `Change the role of ${person.name}`,
      isNarrow: true,
      above: aboveOf(person),
      fields: roleField(form, person.role),
      submit: 'Change it',
    }),
    example: ({ role }) => ({ role }),
    done: ({ name, role, person_id }) => ({ notice: `${name} is now ${role}.`, next: personPath(person_id) }),
  });
}

type PersonAct = NamedAct<'disablePerson' | 'enablePerson' | 'removeSecondFactor'>;

const ACTS: readonly PersonAct[] = [
  {
    path: 'disable',
    operation: 'disablePerson',
    title: (name) => `Disable ${name}`,
    introduction:
      'They can no longer sign in, and their sessions end immediately. API keys that they made stay valid; you can revoke them together on the page API keys.',
    submit: 'Disable',
    isFinal: true,
    done: (name) => `${name} is disabled.`,
  },
  {
    path: 'enable',
    operation: 'enablePerson',
    title: (name) => `Enable ${name}`,
    introduction: 'They sign in with their previous password and second factor.',
    submit: 'Enable',
    done: (name) => `${name} is enabled.`,
  },
  {
    path: 'second-factor',
    operation: 'removeSecondFactor',
    title: (name) => `Remove the second factor of ${name}`,
    introduction:
      'Removes the authenticator and the passkeys of a person who lost them. They can then sign in with their password alone. They get a mail about the change.',
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
