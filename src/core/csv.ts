/** Byte order mark, without which Excel reads UTF-8 in the machine's code page. */
export const BYTE_ORDER_MARK = '\ufeff';

export type CsvValue = string | number | boolean | null | undefined;

/** Returns a line of RFC 4180, including its line break. */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(toField).join(',')}\r\n`;
}

/**
 * Beginning of a text that a spreadsheet takes for a formula, which could run a command or send the sheet away. An
 * apostrophe before the text prevents that (OWASP, CSV Injection). Some programs treat full-width signs alike.
 */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** Returns a field (RFC 4180 section 2). */
function toField(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]|^'/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
