import { type Markup, markup } from '../../../core/html/markup.ts';
import { DomainError } from '../../errors.ts';
import { copyable } from '../../web/components.ts';
import type { PageView } from '../../web/layout.ts';
import { PAGES } from '../../web/own-path.ts';
import type { LinkPurpose } from '../tables.ts';

/** Instructions for getting another link, by purpose. */
const WAYS: Record<LinkPurpose, Markup> = {
  set_up: markup`<p>The link creates the first account. Until an account exists, the operator of the platform can create another link. Replace <code>./data</code> with the data folder:</p>
${copyable('command', 'Command that creates another link', 'evidence-platform people set-up --data ./data')}
<p>Once an account exists, owners invite everyone else. <a href="${PAGES}/sign-in">Sign in</a> if you have one.</p>`,
  confirm: markup`<p>If you already have an account, <a href="${PAGES}/sign-in">sign in</a>. If not, sign up again to get another mail.</p>
<p><a class="button" href="${PAGES}/sign-up">Sign up</a></p>`,
  invite: markup`<p>If you already created your account, <a href="${PAGES}/sign-in">sign in</a>. If not, ask an owner of the platform for another invitation.</p>`,
  reset: markup`<p>If you still need a new password, request another link.</p>
<p><a class="button" href="${PAGES}/forgot">Send me a link</a></p>`,
};

/** Returns the page of a link, or a page that explains how to get another link if this one has ended. */
export async function unlessEnded(purpose: LinkPurpose, page: () => Promise<PageView>): Promise<PageView> {
  try {
    return await page();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'link_used') throw error;
    return {
      title: 'This link is no longer valid',
      status: 410,
      isNarrow: true,
      content: markup`<p>A link works once, within 24 hours. This one was used or withdrawn, or has expired.</p>
${WAYS[purpose]}`,
    };
  }
}
