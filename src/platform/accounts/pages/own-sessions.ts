import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { text } from '../../http/fields.ts';
import { personOf } from '../../web/access.ts';
import { serveAct } from '../../web/acts.ts';
import { paramsOf } from '../../web/asked.ts';
import { action, dataTable, emptyState, link, moment, statusWord } from '../../web/components.ts';
import { sessionTokenOf } from '../../web/session-cookie.ts';
import type { Accounts } from '../accounts.ts';
import type { OwnSession } from '../own-sessions.ts';
import type { AccountPageParts } from './parts.ts';
import { OWN_ACCOUNT } from './paths.ts';

const ACT = { above: [{ title: 'Your account', path: OWN_ACCOUNT }], isFinal: true, back: OWN_ACCOUNT };
const SESSIONS = `${OWN_ACCOUNT}/sessions`;

/** Pages that end the person's own sessions. */
export function ownSessionPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  endPage(server, accounts);
  endOthersPage(server, accounts);
}

function tokenOf(request: FastifyRequest): string {
  return sessionTokenOf(request) ?? '';
}

function endPage(server: FastifyInstance, { ownSessions }: Accounts): void {
  const idOf = (request: FastifyRequest) => paramsOf<{ session_id: string }>(request).session_id;
  serveAct(server, {
    path: '/account/sessions/:session_id/end',
    access: { signedIn: true },
    params: z.object({ session_id: text }),
    async view(request) {
      const { browser, network } = await ownSessions.find(personOf(request).id, tokenOf(request), idOf(request));
      const whose = `${browser ?? 'Unknown browser'}, from ${network ?? 'an unknown address'}`;
      const introduction = `${whose}. This browser has to sign in again.`;
      return { ...ACT, title: 'End a session', introduction, submit: 'End it' };
    },
    async act(request) {
      await ownSessions.end(personOf(request).id, idOf(request));
      return { notice: 'The session was ended.', next: OWN_ACCOUNT };
    },
  });
}

function endOthersPage(server: FastifyInstance, { ownSessions }: Accounts): void {
  serveAct(server, {
    path: '/account/sessions/end-others',
    access: { signedIn: true },
    view: () => ({
      ...ACT,
      title: 'End all other sessions',
      introduction: 'You stay signed in here. All other browsers have to sign in again.',
      submit: 'End them',
    }),
    async act(request) {
      await ownSessions.endOthers(personOf(request).id, tokenOf(request));
      return { notice: 'Your other sessions were ended.', next: OWN_ACCOUNT };
    },
  });
}

/** Renders the list of the person's own sessions. */
export function sessionSection(sessions: readonly OwnSession[], now: Date): Markup {
  const table = dataTable({
    caption: 'Sessions',
    columns: [
      { head: 'Browser', kind: 'name', cell: ({ browser }) => browser ?? 'Unknown' },
      { head: 'Address', cell: ({ network }) => network ?? 'unknown' },
      { head: 'Started', cell: ({ created_at }) => moment(created_at, now) },
      { head: 'Last seen', cell: ({ seen_at }) => moment(seen_at, now) },
      {
        head: 'End',
        kind: 'act',
        cell: ({ isPresent, session_id }) =>
          isPresent ? statusWord('good', 'this one') : link(`${SESSIONS}/${encodeURIComponent(session_id)}/end`, 'End'),
      },
    ],
    rows: sessions,
    empty: emptyState('No sessions.'),
  });
  const others = sessions.some(({ isPresent }) => !isPresent)
    ? markup`<p>${action(`${SESSIONS}/end-others`, 'End all others', 'quiet')}</p>\n`
    : null;
  return markup`<section><h2>Your sessions</h2>\n${table}${others}</section>\n`;
}
