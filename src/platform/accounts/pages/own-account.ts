import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { markup, name } from '../../../core/html/markup.ts';
import { networkOf } from '../../http/rate-limit.ts';
import { emailSchema } from '../../mail/address.ts';
import { personOf } from '../../web/access.ts';
import { action, factList, statusWord } from '../../web/components.ts';
import { emailField, field, ownerOfPassword, postForm } from '../../web/fields.ts';
import { type FormState, serveForm } from '../../web/forms.ts';
import { PAGES } from '../../web/own-path.ts';
import { clearSession, leaveNotice, sessionTokenOf } from '../../web/session-cookie.ts';
import type { Accounts } from '../accounts.ts';
import { passwordSchema } from '../people-requests.ts';
import { letterSent, newPasswordField, tokenOf } from './joining.ts';
import type { AccountPageParts } from './parts.ts';
import { codeField, codeSchema, presentPassword } from './sign-in.ts';

export const OWN_ACCOUNT = `${PAGES}/account`;

/** What everybody sees and changes of themselves, but for the second factor. */
export function ownAccountPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  accountPage(server);
  passwordPage(server, accounts);
  forgottenPage(server, accounts);
  resetPage(server, accounts);
}

const ROLE_WORDS: Record<string, string> = {
  owner: 'may do everything, and says who may come in',
  operator: 'runs the services, and makes API keys',
  auditor: 'reads everything, and verifies',
};

function accountPage(server: FastifyInstance): void {
  server.get('/account', { config: { signedIn: true }, schema: { hide: true } }, (request, reply) => {
    const { email, role, hasSecondFactor, name: own } = personOf(request);
    const factor = hasSecondFactor
      ? markup`${statusWord('good', 'on')} <p>${action(`${PAGES}/second-factor/remove`, 'Remove it', 'quiet')}</p>`
      : markup`${statusWord('warning', 'none')} <p>${action(`${PAGES}/second-factor`, 'Add one')}</p>`;
    return reply.page({
      title: 'Your account',
      content: factList([
        ['Name', name(own)],
        ['E-mail address', name(email)],
        ['Role', markup`${role} <p class="minor">${ROLE_WORDS[role] ?? ''}</p>`],
        ['Second factor', factor],
        ['Password', markup`<p>${action(`${PAGES}/password`, 'Change it', 'quiet')}</p>`],
      ]),
    });
  });
}

function passwordPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/password',
    access: { signedIn: true },
    schema: z.object({ password: presentPassword, code: codeSchema.optional(), next_password: passwordSchema }),
    fields: { weak_password: 'next_password' },
    show: (form, request, reply) => ({
      title: 'Change your password',
      isNarrow: true,
      above: [{ title: 'Your account', path: OWN_ACCOUNT }],
      introduction: 'Your other sessions end, and you get a letter that says so.',
      content: postForm(
        { request, reply, form },
        {
          fields: [
            ownerOfPassword(personOf(request).email),
            field(form, { ...OLD_PASSWORD, isFirst: true }),
            newPasswordField(form, 'New password', 'next_password'),
            personOf(request).hasSecondFactor ? codeField(form) : null,
          ],
          submit: 'Change it',
        },
      ),
    }),
    async act({ next_password: next, ...given }, request, reply) {
      await accounts.credentials.changePassword(sessionTokenOf(request) ?? '', networkOf(request), { ...given, next });
      leaveNotice(reply, 'Your password was changed.');
      return OWN_ACCOUNT;
    },
  });
}

const OLD_PASSWORD = {
  name: 'password',
  label: 'Password until now',
  type: 'password',
  autocomplete: 'current-password',
} as const;

function forgottenPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/forgot',
    access: { public: true },
    schema: z.object({ email: emailSchema }),
    show: (form, request, reply) => ({
      title: 'Forgotten password',
      isNarrow: true,
      introduction: 'You get a letter with a link, at which you choose a new one.',
      content: postForm(
        { request, reply, form },
        { fields: emailField(form, { isFirst: true }), submit: 'Send me a link' },
      ),
    }),
    async act({ email }, request) {
      await accounts.credentials.forgot(email, networkOf(request));
      return letterSent(email);
    },
  });
}

function resetPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/reset/:token',
    access: { public: true },
    schema: z.object({ password: passwordSchema }),
    fields: { weak_password: 'password' },
    async show(form: FormState, request, reply) {
      const { email } = await accounts.credentials.readResetLink(tokenOf(request));
      return {
        title: 'Choose a new password',
        isNarrow: true,
        introduction: markup`For ${name(email)}. All your sessions end; a second factor stays as it is.`,
        content: postForm(
          { request, reply, form },
          { fields: [ownerOfPassword(email), newPasswordField(form)], submit: 'Set it' },
        ),
      };
    },
    async act({ password }, request, reply) {
      await accounts.credentials.reset(tokenOf(request), password);
      clearSession(reply);
      leaveNotice(reply, 'Your password was set. Sign in with it.');
      return `${PAGES}/sign-in`;
    },
  });
}
