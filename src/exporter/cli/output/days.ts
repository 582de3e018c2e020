import { EvidenceError } from '../../../core/errors.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** Parses a value like `90d` to milliseconds. @throws EvidenceError `usage`. */
export function readDays(flag: string, text: string): number {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days === undefined)
    throw new EvidenceError('usage', `${flag} ${text} is not a number of days`, { nextStep: 'Write it like 90d.' });
  return Number(days) * DAY_MS;
}
