import type { OutgoingMail } from '../../mail/mail.ts';
import type { AlertBody } from './body.ts';

/** An alert as a mail. */
export function alertMail(
  { data, timestamp }: AlertBody,
  { to, messageId }: { to: string; messageId: string },
): OutgoingMail {
  const head = { to, messageId: `<${messageId}@alerts>`, date: new Date(timestamp) };
  if (data === null)
    return { ...head, subject: 'A test of trap alerts', text: 'Alerts of traps reach this address.\n' };
  const { label, credential_type, plant_location, depth, severity, source_ip, user_agent, occurrences, url } = data;
  const facts: [string, string | null][] = [
    ['Trap', `${label} (${credential_type}, planted at ${plant_location})`],
    ['How far', depth],
    ['Severity', severity],
    ['First seen', data.first_seen],
    ['Last seen', data.last_seen],
    ['Uses so far', String(occurrences)],
    ['From', source_ip],
    ['Client', user_agent],
    ['What was asked', data.action],
    ['It got out', `after ${data.leaked_between[0]}, before ${data.leaked_between[1]}`],
  ];
  const lines = facts
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${value?.replaceAll(/[\p{C}\p{Z}]+/gu, ' ')}`);
  return {
    ...head,
    subject: `Trap used: ${label}${source_ip === null ? '' : ` by ${source_ip}`}`,
    text: `Somebody used a credential that nobody has a reason to use.\n\n${lines.join('\n')}\n\n${url}\n`,
  };
}
