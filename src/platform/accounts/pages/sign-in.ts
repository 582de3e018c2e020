import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { networkOf } from '../../http/rate-limit.ts';
import { GoFirst, personOf } from '../../web/access.ts';
import { emptyState } from '../../web/components.ts';
import { emailField, field, hidden, ownerOfPassword, postForm } from '../../web/fields.ts';
import { type AskedForm, type FormState, serveForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { ownPath, PAGES } from '../../web/own-path.ts';
import { clearSession, deviceOf, giveDevice, giveSession, sessionTokenOf } from '../../web/session-cookie.ts';
import type { Accounts } from '../accounts.ts';
import { browserWords } from '../sessions.ts';
import type { AccountPageParts } from './parts.ts';
import { factorButtons, factorFields, factorSchema } from './passkey-fields.ts';

export const presentPassword = z.string().min(1, 'Enter your password').max(1000);

const ticket = z.string().max(1000);

/** Pages that sign in, sign out, and authenticate again. */
export function signInPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  signInPage(server, accounts);
  codePage(server, accounts);
  signOutPage(server, accounts);
  provePage(server, accounts);
}

function signInPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/sign-in',
    access: { public: true },
    schema: z.object({ email: z.string().min(1, 'Enter your e-mail address').max(320), password: presentPassword }),
    show: async (asked) => {
      if (await accounts.people.isNobody()) return NOBODY_YET;
      const content = postForm(asked, { fields: addressAndPassword(asked.form), submit: 'Sign in' });
      const signUp = (await accounts.joining.isOpen()) ? markup` · <a href="${PAGES}/sign-up">Sign up</a>` : null;
      const others = markup`<p class="minor"><a href="${PAGES}/forgot">Forgotten password</a>${signUp}</p>`;
      return { title: 'Sign in', isNarrow: true, content: [content, others] };
    },
    async act(given, request, reply) {
      const outcome = await accounts.signIn.firstStep({ ...given, ...fromOf(request) });
      if ('session' in outcome) return begin(accounts, outcome.session, request, reply);
      const form = { values: { ticket: outcome.ticket }, errors: {}, refusal: null };
      return codeView(accounts, { form, request, reply });
    },
  });
}

/** Serves the second step of signing in, for people with a second factor. */
function codePage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/sign-in/code',
    access: { public: true },
    schema: z.object({ ticket, ...factorSchema }),
    fields: { not_signed_in: 'code' },
    show: (asked) => {
      if (asked.form.values['ticket'] === undefined) throw new GoFirst(`${PAGES}/sign-in`);
      return codeView(accounts, asked);
    },
    async act(given, request, reply) {
      const session = await accounts.signIn.secondStep({ ...given, ...fromOf(request) });
      return begin(accounts, session, request, reply);
    },
  });
}

function signOutPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/sign-out',
    access: { signedIn: true },
    schema: z.object({}),
    show: (asked) => ({
      title: 'Sign out',
      isNarrow: true,
      content: postForm(asked, { fields: null, submit: 'Sign out' }),
    }),
    async act(_given, request, reply) {
      await endPresent(accounts, request);
      clearSession(reply);
      return `${PAGES}/sign-in`;
    },
  });
}

/** Serves the fresh authentication before an act that must not be done at an unattended screen. */
function provePage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/prove',
    access: { signedIn: true },
    schema: z.object({ password: presentPassword, ...factorSchema }),
    async show({ form, request, reply }) {
      const question = await accounts.signIn.askAgain(sessionTokenOf(request) ?? '');
      const owner = ownerOfPassword(personOf(request).email);
      const fields = [owner, passwordField(form, true), factorFields(form, question)];
      return {
        title: 'Confirm that it is you',
        isNarrow: true,
        introduction: 'The next page needs a recent sign-in. This confirmation is valid for five minutes.',
        content: postForm({ request, reply, form }, { fields, submit: factorButtons(question, 'Go on') }),
      };
    },
    async act(given, request) {
      await accounts.signIn.proveAgain(sessionTokenOf(request) ?? '', networkOf(request), given);
      return nextOf(request);
    },
  });
}

/** Returns the network and browser that start a session. */
export function fromOf(request: FastifyRequest) {
  const browser = browserWords(request.headers['user-agent']);
  return { network: networkOf(request), browser, device: deviceOf(request) };
}

/**
 * Starts a session, and ends the previous one of the browser: an attacker may have planted that session, and must not
 * know the new one.
 */
export async function begin(
  accounts: Accounts,
  session: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const { email } = await accounts.sessions.require(session);
  await endPresent(accounts, request);
  giveSession(reply, session);
  giveDevice(reply, accounts.devices.cookie(email));
  return nextOf(request);
}

async function endPresent({ sessions }: Accounts, request: FastifyRequest): Promise<void> {
  const token = sessionTokenOf(request);
  if (token !== null) await sessions.end(token);
}

function nextOf({ query }: FastifyRequest): string {
  return ownPath((query as { then?: unknown }).then);
}

const NOBODY_YET: PageView = {
  title: 'No accounts yet',
  isNarrow: true,
  content: emptyState(
    markup`The set-up link that <code>evidence-platform init</code> printed creates the first account. It works once, within 24 hours. To print another link, run:`,
    markup`<pre>evidence-platform people set-up --data DIR</pre>`,
  ),
};

/** @throws DomainError `not_signed_in` if the ticket has expired. */
async function codeView(accounts: Accounts, asked: AskedForm): Promise<PageView> {
  const { form, request } = asked;
  const ticket = String(form.values['ticket']);
  const question = await accounts.signIn.askSecond(ticket);
  const query = request.url.split('?')[1];
  const action = `${PAGES}/sign-in/code${query === undefined ? '' : `?${query}`}`;
  const fields = [hidden('ticket', ticket), factorFields(form, question, true)];
  return {
    title: 'Sign in',
    isNarrow: true,
    content: postForm(asked, { action, fields, submit: factorButtons(question, 'Sign in') }),
  };
}

function addressAndPassword(form: FormState): Markup[] {
  return [emailField(form, { isFirst: true }), passwordField(form)];
}

function passwordField(form: FormState, isFirst = false): Markup {
  const autocomplete = 'current-password';
  return field(form, { name: 'password', label: 'Password', type: 'password', autocomplete, isFirst });
}
