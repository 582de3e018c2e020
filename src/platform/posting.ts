import { join } from 'node:path';
import { type AccountLetter, MAIL_KIND, toMail } from './accounts/letters.ts';
import type { OneTimeLinks } from './accounts/links.ts';
import type { Database } from './database/database.ts';
import { OutboxDelivery } from './jobs/delivery.ts';
import type { FailureListener } from './jobs/looking.ts';
import { mailDelivery } from './mail/mail.ts';
import { type MailSettings, openMail, requireMail } from './mail/open.ts';
import type { OpenService } from './open-module.ts';

/** Delivery of messages while the platform runs. */
export interface Posting {
  /** Name of the destination of mails, for people. */
  to: string;
  /** Stops, and resolves when no delivery is running. */
  stop(): Promise<void>;
}

export interface PostingDeps {
  database: Database;
  clock: () => Date;
  links: OneTimeLinks;
  /** Base address of links. */
  publicUrl: string;
  modules: readonly Pick<OpenService, 'sends'>[];
}

/**
 * Returns the destination of mails; the folder `mail` in the data folder by default.
 * @throws EvidenceError as `requireMail`.
 */
export async function mailSettingsOf({
  dataDir,
  mail = { folder: join(dataDir, 'mail') },
}: {
  dataDir: string;
  mail?: MailSettings;
}): Promise<MailSettings> {
  await requireMail(mail);
  return mail;
}

/**
 * Starts to deliver the messages of the outbox.
 * @param listener is notified of failures to read or write the outbox.
 */
export async function startPosting(
  settings: MailSettings,
  { database, clock, links, publicUrl, modules }: PostingDeps,
  listener: FailureListener,
): Promise<Posting> {
  const host = new URL(publicUrl).hostname;
  const transport = await openMail(settings, host);
  const compose = (letter: unknown) => toMail(letter as AccountLetter, { database, clock, links, publicUrl });
  const sends = modules.flatMap((module) => [...(module.sends?.(transport) ?? [])]);
  const letters = mailDelivery(transport, { compose, host, clock });
  const deliveries = new Map([[MAIL_KIND, letters], ...sends.map(([kind, { deliver }]) => [kind, deliver] as const)]);
  const notes = new Map(sends.map(([kind, { note }]) => [kind, note]));
  const delivering = new OutboxDelivery(database, { clock, deliveries, notes }).start(listener);
  return {
    to: transport.to,
    async stop() {
      await delivering.stop();
      transport.close();
    },
  };
}
