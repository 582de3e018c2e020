import type { Mail } from '../mail/mail.ts';
import type { AlertContent } from './api.ts';

/** An alert as a mail. @param url of the page of what it is about. */
export function alertMail({ subject, sentence, facts }: AlertContent, url: string): Omit<Mail, 'to'> {
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${inOneLine(value)}`]));
  return { subject: inOneLine(subject), text: `${sentence}\n\n${lines.join('\n')}\n\n${url}\n` };
}

/** Keeps text of strangers from beginning a line. */
function inOneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ');
}
