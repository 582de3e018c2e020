import type { Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { Undeliverable } from '../jobs/delivery.ts';
import type { Mail } from '../mail/mail.ts';
import { linkOfLetter, linkUrl, type OneTimeLinks } from './links.ts';
import { personById } from './person-rows.ts';
import type { LinkPurpose } from './tables.ts';

/**
 * Letters to people. A letter with a link contains only the link's id, so that readers of the outbox cannot follow it.
 */
export type AccountLetter = { to: string } & (
  | { letter: 'invitation' | 'confirmation' | 'reset'; link_id: string }
  | { letter: 'sign_up_tried' | 'password_changed' | 'second_factor_added' | 'second_factor_removed' }
  | { letter: 'recovery_codes_made' | 'recovery_code_used' }
  | { letter: 'sign_up_waiting' | 'sign_up_approved' | 'sign_up_declined' }
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

const ONCE = 'The link works once, within 24 hours:';
const NOT_YOU = 'If this was not you, ignore this message. Nothing happens unless the link is opened.';

const TEXTS: Record<Exclude<AccountLetter['letter'], 'none'>, Text> = {
  invitation: {
    subject: 'You are invited to the evidence platform',
    lines: ['You are invited to create an account on the evidence platform.', ONCE],
    purpose: 'invite',
  },
  confirmation: {
    subject: 'Confirm your e-mail address',
    lines: ['Somebody signed up for the evidence platform with this e-mail address.', NOT_YOU, ONCE],
    purpose: 'confirm',
  },
  reset: {
    subject: 'Reset your password',
    lines: ['Somebody requested a new password for this e-mail address.', NOT_YOU, ONCE],
    purpose: 'reset',
  },
  sign_up_tried: {
    subject: 'You already have an account',
    lines: [
      'Somebody signed up for the evidence platform with this e-mail address, which already has an account.',
      'If this was you, sign in or reset your password. If not, ignore this message. Nothing was changed.',
    ],
  },
  password_changed: {
    subject: 'Your password was changed',
    lines: [
      'The password of your account on the evidence platform was changed. Your other sessions were ended.',
      'If this was not you, reset your password now and tell the operator of the platform.',
    ],
  },
  second_factor_added: {
    subject: 'A second factor was added to your account',
    lines: [
      'A second factor, an authenticator or a passkey, was added to your account on the evidence platform. Your other sessions were ended.',
      'If this was not you, change your password now, remove the second factor on your account page, and tell the operator of the platform.',
    ],
  },
  second_factor_removed: {
    subject: 'A second factor was removed from your account',
    lines: [
      'A second factor was removed from your account on the evidence platform: the authenticator, a passkey, or all of them.',
      'If this was not you, change your password now and tell the operator of the platform.',
    ],
  },
  sign_up_waiting: {
    subject: 'Somebody waits for your approval',
    lines: [
      'Somebody signed up for the evidence platform, confirmed their e-mail address, and waits for the approval of an owner.',
      'Approve or decline the sign-up on the page People. After 30 days, it is forgotten.',
    ],
  },
  sign_up_approved: {
    subject: 'Your account was approved',
    lines: ['An owner of the evidence platform approved your account. You can now sign in with your password.'],
  },
  sign_up_declined: {
    subject: 'Your account was not approved',
    lines: ['An owner of the evidence platform declined your sign-up. Your name and your password were deleted.'],
  },
  recovery_codes_made: {
    subject: 'New recovery codes were made for your account',
    lines: [
      'New recovery codes were made for your account on the evidence platform. Earlier ones no longer work.',
      'If this was not you, change your password now, make new recovery codes on your account page, and tell the operator of the platform.',
    ],
  },
  recovery_code_used: {
    subject: 'A recovery code of your account was used',
    lines: [
      'A recovery code took the place of your second factor on the evidence platform. Each code works once; your account page shows how many are left.',
      'If this was not you, change your password now, make new recovery codes on your account page, and tell the operator of the platform.',
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
 * @throws Undeliverable if the link has expired, or is not for the recipient: the outbox has no seals, and who writes a
 * letter into it must not get the link of another.
 */
export async function toMail(letter: AccountLetter, deps: LetterDeps): Promise<Mail | null> {
  if (letter.letter === 'none') return null;
  const { publicUrl } = deps;
  const { subject, lines, purpose } = TEXTS[letter.letter];
  const parts = [...lines];
  if (purpose !== undefined && 'link_id' in letter) {
    const token = await goodToken(letter, purpose, deps);
    if (token === null) return null;
    parts.push(linkUrl(publicUrl, purpose, token));
  }
  return { to: letter.to, subject, text: `${[...parts, publicUrl].join('\n\n')}\n` };
}

async function goodToken(
  { to, link_id }: { to: string; link_id: string },
  purpose: LinkPurpose,
  { database, clock, links }: LetterDeps,
): Promise<string | null> {
  const link = await linkOfLetter(database, purpose, link_id, clock());
  if (link === 'too_old') throw new Undeliverable('its link expired after 24 hours; request another one');
  if (link === 'ended') return null;
  if (link === 'changed' || (await recipientOf(database, link.content as Recipient)) !== to)
    throw new Undeliverable(
      'its link is not for this recipient: the letter was changed outside the platform; run `evidence-platform fsck`',
    );
  return links.token(link_id);
}

/** Content of a link that is mailed. */
type Recipient = { email: string } | { person_id: string };

async function recipientOf(reader: Reader, content: Recipient): Promise<string | undefined> {
  return 'email' in content ? content.email : (await personById(reader, content.person_id))?.email;
}
