import { type Markup, markup } from '../../../core/html/markup.ts';
import { DomainError } from '../../errors.ts';
import { copyable } from '../../web/components.ts';
import type { PageView } from '../../web/layout.ts';
import { PAGES } from '../../web/own-path.ts';
import type { LinkPurpose } from '../tables.ts';

/** Instructions for getting another link, by purpose. */
const WAYS: Record<LinkPurpose, Markup> = {
  set_up: markup`<p>It makes the first account. While nobody has one, whoever runs the platform makes another link, with its data folder in the place of <code>./data</code>:</p>
${copyable('command', 'The command that makes another link', 'evidence-platform people set-up --data ./data')}
<p>Once somebody has an account, an owner invites the others. <a href="${PAGES}/sign-in">Sign in</a> if you have one.</p>`,
  confirm: markup`<p>If you have an account already, <a href="${PAGES}/sign-in">sign in</a>. If not, sign up again, and you get another letter.</p>
<p><a class="button" href="${PAGES}/sign-up">Sign up</a></p>`,
  invite: markup`<p>If you made your account already, <a href="${PAGES}/sign-in">sign in</a>. If not, ask whoever invited you, or an owner of the platform, for another invitation.</p>`,
  reset: markup`<p>If you still need a new password, have another link sent to you.</p>
<p><a class="button" href="${PAGES}/forgot">Send me a link</a></p>`,
};

/** Returns the page of a link, or a page that explains how to get another link if this one has ended. */
export async function unlessEnded(purpose: LinkPurpose, page: () => Promise<PageView>): Promise<PageView> {
  try {
    return await page();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'link_used') throw error;
    return {
      title: 'This link is not good any more',
      status: 410,
      isNarrow: true,
      content: markup`<p>A link works once, and for 24 hours. This one was used, was ended, or is too old.</p>
${WAYS[purpose]}`,
    };
  }
}
