import { existsSync, readFileSync } from 'node:fs';
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { EvidenceError } from '../core/errors.ts';
import { canonicalEmail, isEmail } from './mail/address.ts';
import type { MailSettings } from './mail/open.ts';

/** Settings in the file for the public address and for mails. */
interface Said {
  public_url?: string | undefined;
  smtp?: z.output<typeof smtpFileSchema> | undefined;
  mail_folder?: string | undefined;
}

/** @throws EvidenceError `config`. */
export function toPublicUrl(variable: string | undefined, { public_url }: Said): string | null {
  const given = variable ?? public_url;
  if (given === undefined) return null;
  // The schema has already checked an address from the file.
  if (!isOrigin(given)) throw new EvidenceError('config', `EVIDENCE_PLATFORM_PUBLIC_URL ${NO_ORIGIN}`);
  return new URL(given).origin;
}

export const NO_ORIGIN = 'must be a URL without a path, such as https://evidence.example.com; the pages are below /app';

export function isOrigin(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && /^https?:$/.test(url.protocol) && given.replace(/\/$/, '') === url.origin;
}

export const NO_POSTGRES = 'must be a PostgreSQL URL: postgres://USER@HOST:PORT/DATABASE';

export function isPostgres(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.pathname.length > 1;
}

export function hasNoPassword(address: string): boolean {
  return URL.parse(address)?.password === '';
}

/** Returns the refusal of an address with a password in a file. @param file setting that specifies a password file. */
export function passwordShown(file: string): string {
  return `contains a password, which others can read there; put it into a file and set ${file}`;
}

const NO_MAIL_SERVER = 'must be the URL of a mail server: smtp://USER@HOST:587 or smtps://USER@HOST:465';

function isMailServer(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname);
}

const hasUser = (address: string) => URL.parse(address)?.username !== '';

export const smtpFileSchema = z
  .strictObject({
    url: z
      .string()
      .refine(isMailServer, { error: NO_MAIL_SERVER, abort: true })
      .refine(hasNoPassword, passwordShown('smtp.password_file')),
    from: z.string().refine((from) => isEmail(canonicalEmail(from)), 'is not an e-mail address'),
    password_file: z.string().min(1).optional(),
  })
  .refine(({ url, password_file }) => !hasUser(url) || password_file !== undefined, {
    path: ['url'],
    error: 'has a user without a password; put the password into a file and set smtp.password_file',
  })
  .refine(({ url, password_file }) => hasUser(url) || password_file === undefined, {
    path: ['password_file'],
    error: 'is set, but smtp.url has no user',
  });

/** @param defaultFolder for mails if no destination is configured. @throws EvidenceError `config`. */
export function toMailSettings({ smtp, mail_folder }: Said, defaultFolder: string): MailSettings {
  if (smtp === undefined) return { folder: mail_folder ?? defaultFolder };
  const { url, from, password_file } = smtp;
  const password = password_file === undefined ? null : readPassword('smtp.password_file', password_file);
  return { smtp: { url, from, password } };
}

/** Returns the password in a file, without the line end. @throws EvidenceError `config`. */
export function readPassword(setting: string, path: string): string {
  if (path === '') throw new EvidenceError('config', `${setting} is empty; set it to a file with the password`);
  if (!existsSync(path)) throw new EvidenceError('config', `${setting}: ${path} does not exist`);
  return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
}

/** People who may sign up. */
export const SIGN_UP_MODES = ['open', 'approval', 'closed'] as const;

/** Domain of addresses, in the ASCII form of a canonical address. Subdomains are other domains. */
export const signUpDomainSchema = z
  .string()
  .transform(domainToASCII)
  .refine((domain) => isEmail(`a@${domain}`), 'is not a domain of e-mail addresses, such as example.com');
