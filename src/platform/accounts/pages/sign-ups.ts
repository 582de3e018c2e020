import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { serveOperationAct } from '../../operations/act.ts';
import type { NamedAct } from '../../web/acts.ts';
import { forWhoMay } from '../../web/asked.ts';
import { asCurl, dataTable, emptyState, further, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { signUpOperations } from '../operations/sign-ups.ts';
import type { SignUp } from '../sign-ups.ts';
import type { AccountPageParts } from './parts.ts';
import { PEOPLE_PATH, signUpPath } from './paths.ts';

/** Pages for the acts on people who signed up and wait for approval. */
export function approvalPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  const { approveSignUp, declineSignUp } = signUpOperations(accounts);
  const page = ({ path, title, done, introduction, ...words }: SignUpAct) => ({
    path: `/people/sign-ups/:sign_up_id/${path}`,
    api: '/people',
    access: { scope: 'people:write', proved: true } as const,
    subject: ({ sign_up_id }: { sign_up_id: string }) => accounts.signUps.find(sign_up_id),
    view: (signUp: SignUp) => ({
      ...words,
      title: title(signUp.name),
      introduction: markup`${name(signUp.name)}, ${name(signUp.email)}. ${introduction}`,
      above: [{ title: 'People', path: PEOPLE_PATH }],
      back: PEOPLE_PATH,
    }),
    notice: (signUp: SignUp) => done(signUp.name),
  });
  serveOperationAct(server, approveSignUp, page(APPROVE));
  serveOperationAct(server, declineSignUp, page(DECLINE));
}

/** Renders the section of those who wait; null if nobody waits. @param cursor of its list. */
export async function approvalSection(
  request: FastifyRequest,
  { accounts, clock }: AccountPageParts,
  cursor: string | undefined,
): Promise<Markup | null> {
  const { data, next_cursor } = await accounts.signUps.list({ limit: LIST_ROWS, cursor });
  if (data.length === 0) return null;
  const table = dataTable({
    caption: 'Waiting for approval',
    columns: [
      {
        head: 'Name',
        kind: 'name',
        cell: (signUp) => markup`${name(signUp.name)} <span class="minor">${name(signUp.email)}</span>`,
      },
      { head: 'Signed up', cell: ({ requested_at }) => moment(requested_at, clock()) },
      {
        head: 'Actions',
        kind: 'act',
        cell: ({ sign_up_id }) => forWhoMay(request, 'people:write', () => actsOf(signUpPath(sign_up_id))),
      },
    ],
    rows: data,
    empty: emptyState('Nobody waits.'),
  });
  return markup`<section><h2>Waiting for approval</h2>
${table}${further(PEOPLE_PATH, { sign_ups: cursor }, next_cursor, 'sign_ups')}${asCurl('curl-sign-ups', curlCommand(request, { path: '/people/sign-ups' }))}</section>
`;
}

function actsOf(path: string): Markup {
  return markup`${link(`${path}/approve`, 'Approve')} ${link(`${path}/decline`, 'Decline')}`;
}

type SignUpAct = Omit<NamedAct<never>, 'operation'>;

const APPROVE: SignUpAct = {
  path: 'approve',
  title: (name) => `Approve ${name}`,
  introduction: 'They become an auditor, who can read everything that is recorded, and get a mail.',
  submit: 'Approve',
  done: (name) => `${name} has an account now.`,
};

const DECLINE: SignUpAct = {
  path: 'decline',
  title: (name) => `Decline ${name}`,
  introduction: 'Nothing about them is kept. They get a mail, and can sign up again.',
  submit: 'Decline',
  isFinal: true,
  done: (name) => `The sign-up of ${name} was declined.`,
};
