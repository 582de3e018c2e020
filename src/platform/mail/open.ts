import { EvidenceError, messageOf } from '../../core/errors.ts';
import type { MailTransport } from './mail.ts';
import type { SmtpSettings } from './smtp.ts';

/** Destination of mails: a server, or a folder. */
export type MailSettings = { smtp: SmtpSettings } | { folder: string };

/**
 * Checks that mails can be written to the folder. A server is not contacted, because it may recover later.
 * @throws EvidenceError `config` with the setting.
 */
export async function requireMail(settings: MailSettings): Promise<void> {
  if ('smtp' in settings) return;
  const { folder } = settings;
  const { openFolder } = await import('./folder.ts');
  try {
    await openFolder(folder);
  } catch (error) {
    throw new EvidenceError('config', `mail_folder: mails cannot be written to ${folder}: ${messageOf(error)}`, {
      cause: error,
      nextStep:
        'Give the user that runs the platform write access, or set mail_folder to another folder or smtp.url to a server.',
    });
  }
}

/** @param host in the sender of mails in a folder. */
export async function openMail(settings: MailSettings, host: string): Promise<MailTransport> {
  if ('smtp' in settings) return (await import('./smtp.ts')).smtpTransport(settings.smtp);
  return (await import('./folder.ts')).folderTransport(settings.folder, `evidence-platform@${host}`);
}
