import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { text } from '../../http/fields.ts';
import { personOf } from '../../web/access.ts';
import { serveAct } from '../../web/acts.ts';
import { paramsOf } from '../../web/asked.ts';
import { action, dataTable, emptyState, link, moment, momentOr } from '../../web/components.ts';
import { field, postForm } from '../../web/fields.ts';
import { type AskedForm, serveForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { PAGES } from '../../web/own-path.ts';
import { sessionTokenOf } from '../../web/session-cookie.ts';
import type { Accounts } from '../accounts.ts';
import type { Passkey } from '../passkeys.ts';
import { personNameSchema } from '../wire.ts';
import type { AccountPageParts } from './parts.ts';
import { passkeyButton, passkeyField, passkeySchema, WITHOUT_SCRIPTS, withoutScripts } from './passkey-fields.ts';
import { OWN_ACCOUNT } from './paths.ts';
import { afterAdding } from './recovery-codes.ts';

const ABOVE = [{ title: 'Your account', path: OWN_ACCOUNT }];

/** Pages that add and remove the person's own passkeys. */
export function passkeyPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  serveForm(server, {
    path: '/passkeys/new',
    access: { signedIn: true, proved: true },
    schema: z.object({ name: personNameSchema, passkey: passkeySchema }),
    show: (asked) => addView(accounts, asked),
    async act(given, request) {
      const codes = await accounts.passkeys.add(sessionTokenOf(request) ?? '', given.name, given.passkey);
      const notice = `${given.name} was added. You need a second factor each time you sign in.`;
      return afterAdding(notice, codes);
    },
  });
  removePage(server, accounts);
}

function removePage(server: FastifyInstance, { passkeys }: Accounts): void {
  const idOf = (request: FastifyRequest) => paramsOf<{ passkey_id: string }>(request).passkey_id;
  serveAct(server, {
    path: '/passkeys/:passkey_id/remove',
    access: { signedIn: true, proved: true },
    params: z.object({ passkey_id: text }),
    async view(request) {
      const passkey = await passkeys.find(personOf(request).id, idOf(request));
      const introduction = 'This passkey can no longer be used to sign in. You get a mail about the change.';
      const button = { submit: 'Remove it', isFinal: true, back: OWN_ACCOUNT };
      return { title: `Remove ${passkey.name}`, above: ABOVE, introduction, ...button };
    },
    async act(request) {
      await passkeys.remove(personOf(request).id, idOf(request));
      return { notice: 'The passkey was removed.', next: OWN_ACCOUNT };
    },
  });
}

async function addView({ passkeys }: Accounts, asked: AskedForm): Promise<PageView> {
  const view = { title: 'Add a passkey', isNarrow: true, above: ABOVE };
  if (!passkeys.isOffered) return { ...view, content: NOT_HERE };
  const options = await passkeys.askToAdd(sessionTokenOf(asked.request) ?? '');
  const hint = 'Name of the device or the security key.';
  const fields = [
    field(asked.form, { name: 'name', label: 'Name', hint, autocomplete: 'off', isFirst: true }),
    passkeyField(),
    withoutScripts(`${WITHOUT_SCRIPTS} An authenticator works without scripts.`),
  ];
  return {
    ...view,
    introduction: 'A passkey is a second factor: your phone, your computer or a security key confirms that it is you.',
    content: postForm(asked, { fields, submit: passkeyButton('create', options, 'Add it') }),
  };
}

const NOT_HERE = markup`<p>Browsers support passkeys only at HTTPS addresses. The operator configures the address of the platform as <code>public_url</code>.</p>
<p><a href="${PAGES}/second-factor">Add an authenticator</a></p>`;

/** Renders the person's own passkeys. */
export function passkeySection(isOffered: boolean, passkeys: readonly Passkey[], now: Date): Markup {
  const add = isOffered ? markup`<p>${action(`${PAGES}/passkeys/new`, 'Add a passkey', 'quiet')}</p>\n` : null;
  const table = dataTable({
    caption: 'Passkeys',
    columns: [
      { head: 'Name', kind: 'name', cell: (passkey) => name(passkey.name) },
      { head: 'Created', cell: ({ created_at }) => moment(created_at, now) },
      { head: 'Last used', cell: ({ last_used_at }) => momentOr(last_used_at, now, 'never') },
      {
        head: 'Remove',
        kind: 'act',
        cell: ({ passkey_id }) => link(`${PAGES}/passkeys/${encodeURIComponent(passkey_id)}/remove`, 'Remove'),
      },
    ],
    rows: passkeys,
    empty: emptyState(
      isOffered
        ? 'No passkeys. Your phone, your computer or a security key can be one.'
        : 'Not available: browsers support passkeys only at HTTPS addresses.',
    ),
  });
  return markup`<section><h2>Passkeys</h2>\n${table}${add}</section>\n`;
}
