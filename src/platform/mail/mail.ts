import type { Json } from '../../core/json/canonical.ts';
import type { Deliver } from '../jobs/delivery.ts';

/** Plain-text mail to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Mail as it is sent. */
export interface OutgoingMail extends Mail {
  /** Message id, which stays the same for each attempt. */
  messageId: string;
  date: Date;
}

export interface MailTransport {
  /** Name of the destination, for people: a server, or a folder. */
  to: string;
  /** @throws Undeliverable if the mail is permanently refused; any other error if a retry may succeed. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

/**
 * Returns the delivery of outbox messages as mails.
 * @param compose returns the mail of a message; null if none is to be sent.
 * @param host in the ids of mails.
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
