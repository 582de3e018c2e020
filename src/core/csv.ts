/** Without it Excel takes UTF-8 for the code page of the machine. */
export const BYTE_ORDER_MARK = '\ufeff';

export type CsvValue = string | number | boolean | null | undefined;

/** A line of RFC 4180, with its end. */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(toField).join(',')}\r\n`;
}

/**
 * A spreadsheet takes text that begins like this for a formula, which could run a command or send the sheet away. An
 * apostrophe before it makes it text (OWASP, CSV Injection); the signs of East Asian width mean the same to some.
 */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** RFC 4180 section 2. */
function toField(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]|^'/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
