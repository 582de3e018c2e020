import { createTransport } from 'nodemailer';
import { messageOf } from '../../core/errors.ts';
import { Undeliverable } from '../jobs/delivery.ts';
import type { MailTransport } from './mail.ts';
import { toNodemailer } from './message.ts';

/** A server that takes mails. */
export interface SmtpSettings {
  /** `smtp://USER@HOST:PORT`, which begins in plain text and goes on with TLS, or `smtps://`. */
  url: string;
  /** The sender of the mails. */
  from: string;
  password: string | null;
}

/** All of it within the time that a delivery may take. */
const CONNECT_MS = 10_000;
const SILENT_MS = 20_000;

/** Sends mails to a server. Without TLS only on this machine: links are not for everybody on the way. */
export function smtpTransport({ url, from, password }: SmtpSettings): MailTransport {
  const { protocol, hostname, port, username } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isHere = host === 'localhost' || host === '::1' || /^127\./.test(host);
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(isHere ? { ignoreTLS: true } : { requireTLS: true }),
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: password ?? '' } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENT_MS,
    dnsTimeout: CONNECT_MS,
  });
  return {
    to: `${protocol}//${host}`,
    async send(mail) {
      try {
        await transport.sendMail(toNodemailer(from, mail));
      } catch (error) {
        throw isFinal(error) ? new Undeliverable(messageOf(error), { cause: error }) : error;
      }
    },
    close: () => transport.close(),
  };
}

/** RFC 5321, section 4.2.1: 5yz of this mail, and not of who sends it. */
function isFinal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}
