import type { MailTransport } from './mail.ts';
import type { SmtpSettings } from './smtp.ts';

/** Where mails go: to a server, or into a folder. */
export type MailSettings = { smtp: SmtpSettings } | { folder: string };

/** @param host that mails in a folder are from. */
export async function openMail(settings: MailSettings, host: string): Promise<MailTransport> {
  if ('smtp' in settings) return (await import('./smtp.ts')).smtpTransport(settings.smtp);
  return (await import('./folder.ts')).folderTransport(settings.folder, `evidence-platform@${host}`);
}
