import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { personOf } from '../../web/access.ts';
import { action, copyable, statusWord } from '../../web/components.ts';
import { postForm } from '../../web/fields.ts';
import { type Done, serveForm } from '../../web/forms.ts';
import { RECOVERY_CODES } from '../recovery-codes.ts';
import type { AccountPageParts } from './parts.ts';
import { OWN_ACCOUNT } from './paths.ts';

const ABOVE = [{ title: 'Your account', path: OWN_ACCOUNT }];
const RECOVERY_PATH = `${OWN_ACCOUNT}/recovery-codes`;
const FEW = 3;

/** Page that makes new recovery codes of the person. */
export function recoveryPages(server: FastifyInstance, { accounts }: AccountPageParts): void {
  serveForm(server, {
    path: '/account/recovery-codes',
    access: { signedIn: true, proved: true },
    schema: z.object({}),
    show: (asked) => ({
      title: 'Make new recovery codes',
      isNarrow: true,
      above: ABOVE,
      introduction: `You get ${RECOVERY_CODES} new codes. Your earlier codes stop working. You get a mail about the change.`,
      content: postForm(asked, { fields: null, submit: 'Make new codes' }),
    }),
    act: async (_given, request) =>
      codesOnce('Your recovery codes', await accounts.recoveryCodes.renew(personOf(request).id)),
  });
}

/** Returns the page after a factor was added, with the recovery codes made with it, if there are any. */
export function afterAdding(notice: string, codes: readonly string[] | null): Done {
  return codes === null ? { notice, next: OWN_ACCOUNT } : codesOnce('Save your recovery codes', codes, notice);
}

function codesOnce(title: string, codes: readonly string[], notice?: string): Done {
  const introduction =
    'Each code signs you in once, with your password, if you lose your second factor. Keep them apart from it. They cannot be shown again.';
  return {
    title,
    isNarrow: true,
    above: ABOVE,
    introduction: notice === undefined ? introduction : `${notice} ${introduction}`,
    content: markup`<div class="secret">${copyable('codes', 'The recovery codes', codes.join('\n'))}</div>
<p>${action(OWN_ACCOUNT, 'I have saved them')}</p>`,
  };
}

/** Renders the number of codes left. @param hasFactor true if the person has a second factor. */
export function recoveryWords(left: number, hasFactor: boolean): Markup {
  if (!hasFactor)
    return markup`${statusWord('neutral', 'none')} <p class="minor">You get them with a second factor.</p>`;
  const word = statusWord(left < FEW ? 'warning' : 'good', `${left} left`);
  return markup`${word} <p>${action(RECOVERY_PATH, 'Make new ones', left < FEW ? 'main' : 'quiet')}</p>`;
}
