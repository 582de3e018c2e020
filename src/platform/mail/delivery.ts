import type { Json } from '../../core/json/canonical.ts';
import type { Deliver } from '../jobs/delivery.ts';
import type { Mail, MailTransport } from './mail.ts';

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
