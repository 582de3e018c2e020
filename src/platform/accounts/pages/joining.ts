import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { networkOf } from '../../http/rate-limit.ts';
import { emailSchema } from '../../mail/address.ts';
import { emailField, field, ownerOfPassword, postForm } from '../../web/fields.ts';
import { type Done, type FormState, serveForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { PAGES } from '../../web/own-path.ts';
import type { Accounts } from '../accounts.ts';
import { SHORTEST_PASSWORD } from '../enums.ts';
import type { InvitingPurpose } from '../joining.ts';
import type { SignUpPolicy } from '../sign-up-policy.ts';
import { passwordSchema, personNameSchema } from '../wire.ts';
import { unlessEnded } from './ended-link.ts';
import type { AccountPageParts } from './parts.ts';
import { begin, fromOf } from './sign-in.ts';

const joinerSchema = z.object({ name: personNameSchema, password: passwordSchema });

type Params = { token: string };

/** Pages of the ways to an account: the set-up link, an invitation, and signing up if it is open. */
export function joiningPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  setUpPage(server, accounts);
  signUpPage(server, accounts);
  linkPage(server, accounts, 'confirm', 'confirm');
  linkPage(server, accounts, 'invite', 'invited');
}

function setUpPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/set-up/:token',
    access: { public: true },
    schema: joinerSchema.extend({ email: emailSchema }),
    fields: { weak_password: 'password', conflict: 'email' },
    show: ({ form, request, reply }) =>
      unlessEnded('set_up', async () => {
        await accounts.joining.readSetUpLink(tokenOf(request));
        const fields = [nameField(form), emailField(form), newPasswordField(form)];
        return {
          title: 'Set up this platform',
          isNarrow: true,
          introduction:
            'This link creates the first account, once. That account is an owner: it has all rights and can invite others.',
          content: postForm({ request, reply, form }, { fields, submit: 'Create account' }),
        };
      }),
    async act(given, request, reply) {
      const { session } = await accounts.joining.setUp(tokenOf(request), { ...given, ...fromOf(request) });
      return welcome(accounts, session, request, reply);
    },
  });
}

function signUpPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/sign-up',
    access: { public: true },
    schema: z.object({ email: emailSchema }),
    fields: { forbidden: 'email' },
    async show({ form, request, reply }) {
      if (!(await accounts.joining.isOpen())) return CLOSED;
      const email = emailField(form, { isFirst: true });
      const content = postForm({ request, reply, form }, { fields: email, submit: 'Send me a link' });
      return { title: 'Sign up', isNarrow: true, introduction: wordsOf(accounts.joining.policy), content };
    },
    async act({ email }, request) {
      await accounts.joining.signUp(email, networkOf(request));
      return letterSent(email);
    },
  });
}

/** Serves the page of a mailed link that creates an account. Opening the page does not consume the link. */
function linkPage(server: FastifyInstance, accounts: Accounts, purpose: InvitingPurpose, path: string): void {
  serveForm(server, {
    path: `/${path}/:token`,
    access: { public: true },
    schema: joinerSchema,
    fields: { weak_password: 'password' },
    show: ({ form, request, reply }) =>
      unlessEnded(purpose, async () => {
        const { email, role } = await accounts.joining.readInvitation(purpose, tokenOf(request));
        const fields = [ownerOfPassword(email), nameField(form), newPasswordField(form)];
        return {
          title: 'Create your account',
          isNarrow: true,
          introduction: markup`For ${name(email)}, as ${role}.`,
          content: postForm({ request, reply, form }, { fields, submit: 'Create account' }),
        };
      }),
    async act(given, request, reply) {
      const joiner = { ...given, ...fromOf(request) };
      const { joining } = accounts;
      const joined = await joining[purpose === 'invite' ? 'accept' : 'confirm'](tokenOf(request), joiner);
      return joined === null ? WAITING : welcome(accounts, joined.session, request, reply);
    },
  });
}

async function welcome(
  accounts: Accounts,
  session: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Done> {
  await begin(accounts, session, request, reply);
  const notice = 'Your account was created. Add a second factor to protect it if your password is guessed or stolen.';
  return { notice, next: `${PAGES}/account` };
}

/** Returns the introduction of the page on which people sign up. */
function wordsOf({ mode, domains }: SignUpPolicy): string {
  const who = domains.length === 0 ? '' : ` Your address must be at ${domains.join(' or ')}.`;
  const then = mode === 'open' ? '' : ' An owner then approves your account.';
  return `We send you a link to choose a name and a password.${who}${then} Your account can read and verify.`;
}

const WAITING: PageView = {
  title: 'Your account waits for approval',
  isNarrow: true,
  content: markup`<p>Your e-mail address is confirmed. The owners of the platform were told. You get a mail when one of them decides, within 30 days; until then, you cannot sign in.</p>`,
};

const CLOSED: PageView = {
  title: 'Sign-up is closed',
  isNarrow: true,
  content: markup`<p>Accounts on this platform are by invitation only. Ask an owner for an invitation.</p>
<p><a href="${PAGES}/sign-in">Sign in</a></p>`,
};

/** Returns the page after a letter was requested, which does not reveal whether the address has an account. */
export function letterSent(email: string): PageView {
  return {
    title: 'Check your mail',
    isNarrow: true,
    content: markup`<p>If possible, a link is on its way to ${name(email)}. It works once, within 24 hours.</p>`,
  };
}

export function tokenOf({ params }: FastifyRequest): string {
  return (params as Params).token;
}

function nameField(form: FormState): Markup {
  return field(form, { name: 'name', label: 'Your name', autocomplete: 'name', isFirst: true });
}

export function newPasswordField(form: FormState, label = 'Password', name = 'password'): Markup {
  const hint = `At least ${SHORTEST_PASSWORD} characters. Several words are easier to remember than symbols.`;
  return field(form, { name, label, type: 'password', autocomplete: 'new-password', hint });
}
