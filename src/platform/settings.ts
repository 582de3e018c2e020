import { existsSync, readFileSync } from 'node:fs';
import { EvidenceError } from '../core/errors.ts';
import type { MailSettings } from './mail/open.ts';

/** What a file says of where browsers reach the platform, and of mails. */
interface Said {
  public_url?: string | undefined;
  smtp?: { url: string; from: string; password_file?: string | undefined } | undefined;
  mail_folder?: string | undefined;
}

/** @throws EvidenceError `config`. */
export function toPublicUrl(variable: string | undefined, { public_url }: Said): string | null {
  const given = variable ?? public_url;
  if (given === undefined) return null;
  // Of the file its schema has made sure.
  if (!isOrigin(given)) throw new EvidenceError('config', `EVIDENCE_PLATFORM_PUBLIC_URL ${NO_ORIGIN}`);
  return new URL(given).origin;
}

export const NO_ORIGIN =
  'is not an address without a path; it is written https://evidence.example.com, and the pages stand under /app there';

export function isOrigin(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && /^https?:$/.test(url.protocol) && given.replace(/\/$/, '') === url.origin;
}

export const NO_MAIL_SERVER =
  'is not the address of a mail server; it is written smtp://USER@HOST:587, or smtps://USER@HOST:465';

export function isMailServer(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname);
}

/** @param defaultFolder where mails are written when nothing is said. @throws EvidenceError `config`. */
export function toMailSettings({ smtp, mail_folder }: Said, defaultFolder: string): MailSettings {
  if (smtp === undefined) return { folder: mail_folder ?? defaultFolder };
  if (mail_folder !== undefined)
    throw new EvidenceError('config', 'both smtp and mail_folder say where mails go', { nextStep: 'Leave one out.' });
  const { url: given, from, password_file } = smtp;
  const url = new URL(given);
  if (url.password !== '')
    throw new EvidenceError('config', 'smtp.url has a password in it, which others can read there', {
      nextStep: 'Put it into a file that smtp.password_file names.',
    });
  if ((url.username === '') !== (password_file === undefined))
    throw new EvidenceError('config', 'smtp needs both, a user in smtp.url and smtp.password_file, or neither');
  const password = password_file === undefined ? null : readPassword('smtp.password_file', password_file);
  return { smtp: { url: given, from, password } };
}

/** The password in a file, without the end of its line. @throws EvidenceError `config`. */
export function readPassword(setting: string, path: string): string {
  if (path === '') throw new EvidenceError('config', `${setting} names no file with the password`);
  if (!existsSync(path)) throw new EvidenceError('config', `${setting}: there is no ${path}`);
  return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
}
