import { createTransport } from 'nodemailer';
import { messageOf } from '../../core/errors.ts';
import { Undeliverable } from '../jobs/delivery.ts';
import type { MailTransport } from './mail.ts';
import { toNodemailer } from './message.ts';

/** Server that accepts mails. */
export interface SmtpSettings {
  /** URL `smtp://USER@HOST:PORT`, which upgrades to TLS by STARTTLS, or `smtps://`. */
  url: string;
  /** Sender of the mails. */
  from: string;
  password: string | null;
}

/** Time limits, whose total is below the lease of a delivery. */
const CONNECT_MS = 10_000;
const SILENT_MS = 20_000;

/**
 * Returns a transport that sends mails to a server. TLS is required except on this machine, because mails contain links
 * that others must not see.
 */
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

/**
 * Reports whether a failure is permanent: a 5yz reply (RFC 5321 section 4.2.1) to this mail, rather than to the sender.
 */
function isFinal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}
