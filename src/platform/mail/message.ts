import { createTransport } from 'nodemailer';
import { Undeliverable } from '../jobs/delivery.ts';
import { canonicalEmail, isEmail } from './address.ts';
import type { OutgoingMail } from './mail.ts';

/** The form of nodemailer, which folds and encodes what stands in headers. @throws Undeliverable for what is no address. */
export function toNodemailer(from: string, { to, subject, text, messageId, date }: OutgoingMail) {
  if (!isEmail(canonicalEmail(to))) throw new Undeliverable('this is no e-mail address');
  return {
    from,
    to,
    subject,
    text,
    messageId,
    date,
    // RFC 3834, section 5: nobody answers it with an automatic reply.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** A mail as bytes of RFC 5322, in which each line of the text is one line: who reads the file copies links out of it. */
export async function toEml(from: string, mail: OutgoingMail): Promise<Buffer> {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  // It would cut lines of more than 76 characters; RFC 5322, section 2.1.1, lets them have 998.
  composer.use('stream', ({ message }, done) => {
    message.getTransferEncoding = () => '8bit';
    done();
  });
  const { message } = await composer.sendMail(toNodemailer(from, mail));
  return message as Buffer;
}
