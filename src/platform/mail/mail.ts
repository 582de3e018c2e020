import type { Json } from '../../core/json/canonical.ts';
import type { Deliver } from '../jobs/delivery.ts';

/** A mail to one address, in plain text. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** A mail as it is sent. */
export interface OutgoingMail extends Mail {
  /** The same each time that it is sent. */
  messageId: string;
  date: Date;
}

/** The transport of mails. */
export interface MailTransport {
  /** The name of the place they go to, for people: a server, or a folder. */
  to: string;
  /** @throws Undeliverable for a mail that nobody will ever take; whatever is wrong for one to try again. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

/**
 * Delivers messages of the outbox as mails.
 * @param compose makes the mail of a message; null for one that nobody gets.
 * @param host that stands in the ids of mails.
 */
export function mailDelivery(
  transport: MailTransport,
  { compose, host, clock }: { compose: (payload: Json) => Promise<Mail | null>; host: string; clock: () => Date },
): Deliver {
  return async ({ message_id, payload }) => {
    const mail = await compose(payload);
    if (mail !== null) await transport.send({ ...mail, messageId: `<${message_id}@${host}>`, date: clock() });
  };
}
