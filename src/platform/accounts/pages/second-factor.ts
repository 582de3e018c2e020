import type { FastifyInstance } from 'fastify';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { Markup, markup } from '../../../core/html/markup.ts';
import { DomainError } from '../../errors.ts';
import { GoFirst, personOf } from '../../web/access.ts';
import { serveAct } from '../../web/acts.ts';
import { copyable } from '../../web/components.ts';
import { hidden, postForm } from '../../web/fields.ts';
import { type AskedForm, serveForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { sessionTokenOf } from '../../web/session-cookie.ts';
import type { Accounts } from '../accounts.ts';
import { base32, newTotpSecret, totpLink } from '../totp.ts';
import type { AccountPageParts } from './parts.ts';
import { codeField, codeSchema } from './passkey-fields.ts';
import { OWN_ACCOUNT } from './paths.ts';
import { afterAdding } from './recovery-codes.ts';

/** Name that authenticators show. */
const ISSUER = 'Evidence platform';

const ABOVE = [{ title: 'Your account', path: OWN_ACCOUNT }];

/** Pages that add and remove the person's own authenticator. */
export function secondFactorPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  serveForm(server, {
    path: '/second-factor',
    access: { signedIn: true, proved: true },
    schema: z.object({ offer: z.string().max(1000), code: codeSchema }),
    fields: { not_signed_in: 'code' },
    show: (asked) => addView(accounts, asked),
    async act({ offer, code }, request) {
      const secret = openOffer(accounts, offer, personOf(request).id);
      const codes = await accounts.credentials.addAuthenticator(sessionTokenOf(request) ?? '', secret, code);
      const notice = 'Your authenticator was added. You need a second factor each time you sign in.';
      return afterAdding(notice, codes);
    },
  });
  serveAct(server, {
    path: '/second-factor/remove',
    access: { signedIn: true, proved: true },
    view: (request) => ({
      title: 'Remove your authenticator',
      above: ABOVE,
      submit: 'Remove it',
      isFinal: true,
      back: OWN_ACCOUNT,
      introduction: personOf(request).secondFactors.includes('passkey')
        ? 'You then need a passkey to sign in.'
        : 'Anyone with your password can then sign in.',
    }),
    async act(request) {
      await accounts.credentials.removeAuthenticator(personOf(request).id);
      return { notice: 'Your authenticator was removed.', next: OWN_ACCOUNT };
    },
  });
}

function addView(accounts: Accounts, asked: AskedForm): PageView {
  const { form, request } = asked;
  const { id, email, secondFactors } = personOf(request);
  if (secondFactors.includes('authenticator')) throw new GoFirst(OWN_ACCOUNT);
  const offered = form.values['offer'];
  const offer =
    typeof offered === 'string' ? offered : accounts.secrets.seal(newTotpSecret(), ownerOf(id)).toString('base64url');
  const secret = openOffer(accounts, offer, id);
  return {
    title: 'Add an authenticator',
    isNarrow: true,
    above: ABOVE,
    introduction: 'An authenticator is a second factor: an app on your phone that shows a new code every 30 seconds.',
    content: markup`<ol class="steps">
<li><p>Scan this code with your authenticator.</p>${picture(totpLink(secret, ISSUER, email))}
<p class="minor">Or enter this secret:</p>${copyable('secret', 'The secret', grouped4(base32(secret)))}</li>
<li><p>Enter the code that it shows.</p>
${postForm(asked, { fields: [hidden('offer', offer), codeField(form)], submit: 'Turn it on' })}</li>
</ol>`,
  };
}

/** Opens the secret in the form, which is sealed for the person and stored only after its first code was right. */
function openOffer({ secrets }: Accounts, offer: string, personId: string): Buffer {
  try {
    return secrets.open(Buffer.from(offer, 'base64url'), ownerOf(personId));
  } catch {
    throw new DomainError('invalid_request', 'this form does not belong to this account; reload the page');
  }
}

function ownerOf(personId: string): string {
  return `second factor of ${personId}`;
}

/** Draws the secret as a QR code, black on white even in dark mode, because cameras need the contrast. */
function picture(link: string): Markup {
  const svg = renderSVG(link, { border: 2, ecc: 'M' });
  return new Markup([svg.replace('<svg', '<svg class="code-picture" role="img" aria-label="QR code of the secret"')]);
}

function grouped4(text: string): string {
  return text.replace(/.{4}(?=.)/g, '$& ');
}
