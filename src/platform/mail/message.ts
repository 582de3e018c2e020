import { createTransport } from 'nodemailer';
import { Undeliverable } from '../jobs/delivery.ts';
import { canonicalEmail, isEmail } from './address.ts';
import type { OutgoingMail } from './mail.ts';

/** Returns a mail for nodemailer, which folds and encodes headers. @throws Undeliverable if the address is invalid. */
export function toNodemailer(from: string, { to, subject, text, messageId, date }: OutgoingMail) {
  if (!isEmail(canonicalEmail(to))) throw new Undeliverable('this is not an e-mail address');
  return {
    from,
    to,
    subject,
    text,
    messageId,
    date,
    // Suppresses automatic replies: RFC 3834 section 5.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/**
 * Returns a mail in the format of RFC 5322, with each line of text on one line, so that links can be copied from the
 * file.
 */
export async function toEml(from: string, mail: OutgoingMail): Promise<Buffer> {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  // Keeps nodemailer from wrapping lines at 76 characters; RFC 5322 section 2.1.1 allows 998.
  composer.use('stream', ({ message }, done) => {
    message.getTransferEncoding = () => '8bit';
    done();
  });
  const { message } = await composer.sendMail(toNodemailer(from, mail));
  return message as Buffer;
}
