import type { FastifyInstance } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { pageQuerySchema } from '../../http/fields.ts';
import { forWhoMay } from '../../web/asked.ts';
import {
  action,
  asCurl,
  dataTable,
  emptyState,
  factList,
  further,
  link,
  moment,
  statusWord,
} from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { withQuery } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import type { Person } from '../people.ts';
import { personParamsSchema } from '../wire.ts';
import { invitationPages, invitationSection } from './invitations.ts';
import type { AccountPageParts } from './parts.ts';
import { KEYS_PATH, PEOPLE_PATH, personPath } from './paths.ts';
import { personActPages } from './person-acts.ts';
import { approvalPages, approvalSection } from './sign-ups.ts';

const SEES_PEOPLE = { scope: 'people:read' } as const;

/** Pages of the people with an account, and of their roles, which owners change. */
export async function peoplePages(server: FastifyInstance, parts: AccountPageParts): Promise<void> {
  const { accounts, clock } = parts;
  servePage(server, {
    path: '/people',
    access: SEES_PEOPLE,
    query: listsSchema,
    async view({ request, query: { invitations, sign_ups, cursor } }) {
      const { data, next_cursor } = await accounts.people.list({ cursor, limit: LIST_ROWS });
      const invite = action(`${PEOPLE_PATH}/invite`, 'Invite somebody');
      return {
        title: 'People',
        introduction: 'People with access, and their roles.',
        content: [
          forWhoMay(request, 'people:write', () => markup`<p>${invite}</p>\n`),
          peopleTable(data, clock()),
          further(PEOPLE_PATH, { cursor }, next_cursor),
          asCurl('curl', curlCommand(request, { path: '/people/' })),
          await approvalSection(request, parts, sign_ups),
          await invitationSection(request, parts, invitations),
        ],
      };
    },
  });
  onePage(server, parts);
  personActPages(server, parts);
  invitationPages(server, parts);
  approvalPages(server, parts);
}

function onePage(server: FastifyInstance, { accounts, clock }: AccountPageParts): void {
  servePage(server, {
    path: '/people/:person_id',
    access: SEES_PEOPLE,
    params: personParamsSchema,
    async view({ request, params: { person_id } }) {
      const person = await accounts.people.find(person_id);
      return {
        title: person.name,
        above: [{ title: 'People', path: PEOPLE_PATH }],
        content: [personFacts(person, clock()), forWhoMay(request, 'people:write', () => personActs(person))],
        api: { path: '/people/' },
      };
    },
  });
}

/** Cursors of the lists on the page. */
const listsSchema = pageQuerySchema.extend({
  invitations: pageQuerySchema.shape.cursor,
  sign_ups: pageQuerySchema.shape.cursor,
});

function peopleTable(people: readonly Person[], now: Date): Markup {
  return dataTable({
    caption: 'People',
    columns: [
      {
        head: 'Name',
        kind: 'name',
        cell: (person) =>
          markup`${link(personPath(person.person_id), person.name)} <span class="minor">${name(person.email)}</span>`,
      },
      { head: 'Status', cell: stateOf },
      { head: 'Role', cell: ({ role }) => role },
      { head: 'Second factor', cell: factorOf },
      { head: 'Since', cell: ({ created_at }) => moment(created_at, now) },
    ],
    rows: people,
    empty: emptyState('No accounts.'),
  });
}

function personFacts(person: Person, now: Date): Markup {
  return factList([
    ['E-mail address', name(person.email)],
    ['Role', person.role],
    ['Status', stateOf(person)],
    ['Second factor', factorOf(person)],
    ['Since', moment(person.created_at, now)],
    ['API keys', link(withQuery(KEYS_PATH, { maker_id: person.person_id }), 'Keys of this person')],
    ...(person.disabled_at === null ? [] : [['Disabled', moment(person.disabled_at, now)] as const]),
  ]);
}

function personActs(person: Person): Markup {
  const path = personPath(person.person_id);
  return markup`<p class="acts">${action(`${path}/role`, 'Change the role', 'quiet')}${
    person.disabled_at === null
      ? action(`${path}/disable`, 'Disable', 'quiet')
      : action(`${path}/enable`, 'Enable', 'quiet')
  }${person.second_factor ? action(`${path}/second-factor`, 'Remove the second factor', 'quiet') : null}</p>
`;
}

function stateOf({ disabled_at }: Person): Markup {
  return disabled_at === null ? statusWord('good', 'enabled') : statusWord('neutral', 'disabled');
}

function factorOf({ second_factor }: Person): Markup {
  return second_factor ? statusWord('good', 'on') : statusWord('warning', 'none');
}
