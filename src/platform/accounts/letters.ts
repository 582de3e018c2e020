import type { Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { Undeliverable } from '../jobs/delivery.ts';
import type { Mail } from '../mail/mail.ts';
import { linkUrl, type OneTimeLinks, stateOfLink } from './links.ts';
import type { LinkPurpose } from './tables.ts';

/**
 * Letters to people. A letter with a link contains only the link's id, so that readers of the outbox cannot follow it.
 */
export type AccountLetter = { to: string } & (
  | { letter: 'invitation' | 'confirmation' | 'reset'; link_id: string }
  | { letter: 'sign_up_tried' | 'password_changed' | 'second_factor_added' | 'second_factor_removed' }
  /** Letter that is not sent, so that the work is the same for an address without an account. */
  | { letter: 'none'; link_id: string }
);

/** Queue of letters in the outbox. */
export interface Letters {
  send(transaction: Transaction, letter: AccountLetter): Promise<void>;
}

/** Kind of letters in the outbox. */
export const MAIL_KIND = 'mail';

export function lettersInto(outbox: {
  add(transaction: Transaction, kind: string, payload: Json): Promise<string>;
}): Letters {
  return {
    async send(transaction, letter) {
      await outbox.add(transaction, MAIL_KIND, letter);
    },
  };
}

interface Text {
  subject: string;
  /** Lines of text, one paragraph each. */
  lines: readonly string[];
  purpose?: LinkPurpose;
}

const ONCE = 'The link works once, and for 24 hours:';
const NOT_YOU = 'If this was not you, do nothing: without the link nothing happens.';

const TEXTS: Record<Exclude<AccountLetter['letter'], 'none'>, Text> = {
  invitation: {
    subject: 'You are invited to the evidence platform',
    lines: ['Somebody who runs the evidence platform invites you to it.', ONCE],
    purpose: 'invite',
  },
  confirmation: {
    subject: 'Confirm your e-mail address',
    lines: ['Somebody signed up at the evidence platform with this e-mail address.', NOT_YOU, ONCE],
    purpose: 'confirm',
  },
  reset: {
    subject: 'A new password',
    lines: ['Somebody asked for a new password for this e-mail address.', NOT_YOU, ONCE],
    purpose: 'reset',
  },
  sign_up_tried: {
    subject: 'You have an account already',
    lines: [
      'Somebody signed up at the evidence platform with this e-mail address, which has an account.',
      'If this was you, sign in, or ask for a new password there. If not, do nothing: nothing was changed.',
    ],
  },
  password_changed: {
    subject: 'Your password was changed',
    lines: [
      'The password of your account at the evidence platform was changed. Your other sessions were ended.',
      'If this was not you, ask for a new password at once, and tell whoever runs the platform.',
    ],
  },
  second_factor_added: {
    subject: 'A second factor was added to your account',
    lines: [
      'A second factor was added to your account at the evidence platform: an authenticator or a passkey. Your other sessions were ended.',
      'If this was not you, change your password at once, remove the second factor on your account page, and tell whoever runs the platform.',
    ],
  },
  second_factor_removed: {
    subject: 'A second factor of yours was removed',
    lines: [
      'A second factor of your account at the evidence platform was removed: the authenticator, a passkey, or all of them.',
      'If this was not you, change your password at once, and tell whoever runs the platform.',
    ],
  },
};

/** Dependencies for turning letters into mails. */
interface LetterDeps {
  database: Reader;
  clock: () => Date;
  links: OneTimeLinks;
  /** Base address of links. */
  publicUrl: string;
}

/**
 * Returns the mail for a letter; null for a letter that is not sent, and for one whose link was used or withdrawn in
 * the meantime.
 * @throws Undeliverable if the link has expired.
 */
export async function toMail(letter: AccountLetter, deps: LetterDeps): Promise<Mail | null> {
  if (letter.letter === 'none') return null;
  const { publicUrl } = deps;
  const { subject, lines, purpose } = TEXTS[letter.letter];
  const parts = [...lines];
  if (purpose !== undefined && 'link_id' in letter) {
    const token = await goodToken(letter.link_id, deps);
    if (token === null) return null;
    parts.push(linkUrl(publicUrl, purpose, token));
  }
  return { to: letter.to, subject, text: `${[...parts, publicUrl].join('\n\n')}\n` };
}

async function goodToken(linkId: string, { database, clock, links }: LetterDeps): Promise<string | null> {
  const state = await stateOfLink(database, linkId, clock());
  if (state === 'too_old')
    throw new Undeliverable('the link in it is older than a day and good no more; have another one made');
  return state === 'good' ? links.token(linkId) : null;
}
