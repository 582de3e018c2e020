import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { markup, name } from '../../../core/html/markup.ts';
import { networkOf } from '../../http/rate-limit.ts';
import { emailSchema } from '../../mail/address.ts';
import { personOf } from '../../web/access.ts';
import { action, factList, statusWord } from '../../web/components.ts';
import { emailField, field, ownerOfPassword, postForm } from '../../web/fields.ts';
import { serveForm } from '../../web/forms.ts';
import { PAGES } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import { clearSession, giveDevice, sessionTokenOf } from '../../web/session-cookie.ts';
import type { Accounts } from '../accounts.ts';
import { passwordSchema } from '../wire.ts';
import { unlessEnded } from './ended-link.ts';
import { letterSent, newPasswordField, tokenOf } from './joining.ts';
import { ownSessionPages, sessionSection } from './own-sessions.ts';
import type { AccountPageParts } from './parts.ts';
import { factorButtons, factorFields, factorSchema } from './passkey-fields.ts';
import { passkeySection } from './passkeys.ts';
import { OWN_ACCOUNT } from './paths.ts';
import { recoveryWords } from './recovery-codes.ts';
import { presentPassword } from './sign-in.ts';

/** Pages on which people view and change their own account, except for second factors. */
export function ownAccountPages(server: FastifyInstance, parts: AccountPageParts): void {
  const { accounts } = parts;
  accountPage(server, parts);
  ownSessionPages(server, parts);
  passwordPage(server, accounts);
  forgottenPage(server, accounts);
  resetPage(server, accounts);
}

const ROLE_WORDS: Record<string, string> = {
  owner: 'has all rights and manages people',
  operator: 'runs the services and manages API keys',
  auditor: 'reads and verifies everything',
};

function accountPage(server: FastifyInstance, { accounts, clock }: AccountPageParts): void {
  servePage(server, {
    path: '/account',
    access: { signedIn: true },
    async view({ request }) {
      const { id, email, role, secondFactors, name: own } = personOf(request);
      const authenticator = secondFactors.includes('authenticator')
        ? markup`${statusWord('good', 'on')} <p>${action(`${PAGES}/second-factor/remove`, 'Remove it', 'quiet')}</p>`
        : markup`${statusWord(secondFactors.length === 0 ? 'warning' : 'neutral', 'none')} <p>${action(`${PAGES}/second-factor`, 'Add one', secondFactors.length === 0 ? 'main' : 'quiet')}</p>`;
      return {
        title: 'Your account',
        content: [
          factList([
            ['Name', name(own)],
            ['E-mail address', name(email)],
            ['Role', markup`${role} <p class="minor">${ROLE_WORDS[role] ?? ''}</p>`],
            ['Password', markup`<p>${action(`${PAGES}/password`, 'Change it', 'quiet')}</p>`],
            ['Authenticator', authenticator],
            ['Recovery codes', recoveryWords(await accounts.recoveryCodes.left(id), secondFactors.length > 0)],
          ]),
          passkeySection(accounts.passkeys.isOffered, await accounts.passkeys.list(id), clock()),
          sessionSection(await accounts.ownSessions.list(id, sessionTokenOf(request) ?? ''), clock()),
        ],
      };
    },
  });
}

function passwordPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/password',
    access: { signedIn: true },
    schema: z.object({ password: presentPassword, ...factorSchema, next_password: passwordSchema }),
    fields: { weak_password: 'next_password' },
    async show(asked) {
      const { form, request } = asked;
      const question = await accounts.signIn.askAgain(sessionTokenOf(request) ?? '');
      const fields = [
        ownerOfPassword(personOf(request).email),
        field(form, { ...OLD_PASSWORD, isFirst: true }),
        newPasswordField(form, 'New password', 'next_password'),
        factorFields(form, question),
      ];
      return {
        title: 'Change your password',
        isNarrow: true,
        above: [{ title: 'Your account', path: OWN_ACCOUNT }],
        introduction: 'Your other sessions end, and you get a mail about the change.',
        content: postForm(asked, { fields, submit: factorButtons(question, 'Change it') }),
      };
    },
    async act({ next_password: next, ...given }, request) {
      await accounts.credentials.changePassword(sessionTokenOf(request) ?? '', networkOf(request), { ...given, next });
      return { notice: 'Your password was changed.', next: OWN_ACCOUNT };
    },
  });
}

const OLD_PASSWORD = {
  name: 'password',
  label: 'Current password',
  type: 'password',
  autocomplete: 'current-password',
} as const;

function forgottenPage(server: FastifyInstance, accounts: Accounts): void {
  serveForm(server, {
    path: '/forgot',
    access: { public: true },
    schema: z.object({ email: emailSchema }),
    show: (asked) => ({
      title: 'Forgotten password',
      isNarrow: true,
      introduction: 'We send you a link to choose a new password.',
      content: postForm(asked, { fields: emailField(asked.form, { isFirst: true }), submit: 'Send me a link' }),
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
    show: (asked) =>
      unlessEnded('reset', async () => {
        const { email } = await accounts.credentials.readResetLink(tokenOf(asked.request));
        const fields = [ownerOfPassword(email), newPasswordField(asked.form)];
        return {
          title: 'Choose a new password',
          isNarrow: true,
          introduction: markup`For ${name(email)}. All your sessions end. Your second factors stay.`,
          content: postForm(asked, { fields, submit: 'Set it' }),
        };
      }),
    async act({ password }, request, reply) {
      giveDevice(reply, await accounts.credentials.reset(tokenOf(request), password));
      clearSession(reply);
      return { notice: 'Your password was set. Sign in with the new password.', next: `${PAGES}/sign-in` };
    },
  });
}
