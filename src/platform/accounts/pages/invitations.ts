import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { serveOperationAct } from '../../operations/act.ts';
import type { NamedAct } from '../../web/acts.ts';
import { forWhoMay } from '../../web/asked.ts';
import { asCurl, dataTable, emptyState, further, idText, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import type { Accounts } from '../accounts.ts';
import { personNamed } from '../administration.ts';
import type { Invitations, OpenInvitation } from '../invitations.ts';
import { invitationOperations } from '../operations/invitations.ts';
import type { AccountPageParts } from './parts.ts';
import { invitationPath, PEOPLE_PATH } from './paths.ts';

/** Pages for the acts on an open invitation. */
export function invitationPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  for (const act of ACTS) actPage(server, accounts.invitations, act);
}

/** Renders the section of open invitations. @param cursor of its list. */
export async function invitationSection(
  request: FastifyRequest,
  { accounts, clock }: AccountPageParts,
  cursor: string | undefined,
): Promise<Markup> {
  const { data, next_cursor } = await accounts.invitations.list({ limit: LIST_ROWS, cursor });
  const names = await namesOfInviters(accounts, data);
  return markup`<section><h2>Open invitations</h2>
${invitationTable(request, data, names, clock())}${further(PEOPLE_PATH, { invitations: cursor }, next_cursor, 'invitations')}${asCurl('curl-invitations', curlCommand(request, { path: '/people/invitations' }))}</section>
`;
}

function invitationTable(
  request: FastifyRequest,
  open: readonly OpenInvitation[],
  names: ReadonlyMap<string, string>,
  now: Date,
): Markup {
  return dataTable({
    caption: 'Open invitations',
    columns: [
      { head: 'E-mail address', kind: 'name', cell: ({ email }) => name(email) },
      { head: 'Role', cell: ({ role }) => role },
      { head: 'Invited by', cell: ({ invited_by }) => inviter(invited_by, names) },
      { head: 'Valid until', cell: ({ expires_at }) => moment(expires_at, now) },
      {
        head: 'Actions',
        kind: 'act',
        cell: ({ link_id }) => forWhoMay(request, 'people:write', () => actsOf(link_id)),
      },
    ],
    rows: open,
    empty: emptyState('No open invitations.'),
  });
}

function actsOf(linkId: string): Markup {
  const path = invitationPath(linkId);
  return markup`${link(`${path}/send-again`, 'Send again')} ${link(`${path}/withdraw`, 'Withdraw')}`;
}

async function namesOfInviters({ people }: Accounts, open: readonly OpenInvitation[]) {
  const ids = open.flatMap(({ invited_by }) => personNamed(invited_by ?? '') ?? []);
  return people.namesOf([...new Set(ids)]);
}

function inviter(by: string | null, names: ReadonlyMap<string, string>): Markup {
  if (by === null) return markup`<span class="minor">unknown</span>`;
  const person = names.get(personNamed(by) ?? '');
  return person === undefined ? idText(by) : name(person);
}

type InvitationAct = NamedAct<'sendInvitationAgain' | 'withdrawInvitation'>;

const ACTS: readonly InvitationAct[] = [
  {
    path: 'send-again',
    operation: 'sendInvitationAgain',
    title: () => 'Send the invitation again',
    introduction: 'They get another mail with the same link, valid for another 24 hours.',
    submit: 'Send again',
    done: (email) => `The invitation to ${email} is queued again.`,
  },
  {
    path: 'withdraw',
    operation: 'withdrawInvitation',
    title: () => 'Withdraw the invitation',
    introduction: 'The link stops working, and a queued mail is not sent. The person is not notified.',
    submit: 'Withdraw it',
    isFinal: true,
    done: (email) => `The invitation to ${email} was withdrawn.`,
  },
];

function actPage(server: FastifyInstance, invitations: Invitations, act: InvitationAct): void {
  const { path, operation, title, introduction, done, ...words } = act;
  serveOperationAct(server, invitationOperations(invitations)[operation], {
    path: `/people/invitations/:link_id/${path}`,
    api: '/people',
    access: { scope: 'people:write', proved: true },
    subject: ({ link_id }) => invitations.find(link_id),
    view: ({ email, role }) => ({
      ...words,
      title: title(email),
      introduction: markup`For ${name(email)}, as ${role}. ${introduction}`,
      above: [{ title: 'People', path: PEOPLE_PATH }],
      back: PEOPLE_PATH,
    }),
    notice: ({ email }) => done(email),
  });
}
