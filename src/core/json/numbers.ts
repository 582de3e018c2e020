import { tokensOf } from './tokens.ts';

/** As they are written; null where there is none. */
export interface InexactNumbers {
  /** The first number that is another one as a double. */
  inexact: string | null;
  /** The first of them that is a whole number as a double: it could pass for a count, or for a place in a chain. */
  inexactInteger: string | null;
}

/**
 * Matches every number after another sign that changes when it is read: one with an exponent, or of more than 15
 * digits. Two decimals of up to 15 digits never share a double (DBL_DIG). What strings hold may look like one, in vain.
 */
const COULD_CHANGE = /[:[,\s]-?\d(?:[\d.]{15}|[\d.]*[eE])/;

/** The first numbers of a text that `JSON.parse` has accepted that are other ones as doubles. */
export function findInexact(json: string): InexactNumbers {
  let inexact: string | null = null;
  if (!COULD_CHANGE.test(json) && !/^[-\d]/.test(json)) return { inexact, inexactInteger: null };
  for (const token of tokensOf(json)) {
    if (!/^[-0-9]/.test(token) || isExact(token)) continue;
    inexact ??= token;
    if (Number.isInteger(Number(token))) return { inexact, inexactInteger: token };
  }
  return { inexact, inexactInteger: null };
}

/**
 * True if a number is, as a decimal, the one that RFC 8785 writes for its double: `1.0`, `1e2` and `-0` are, whatever
 * their spelling. Of all numbers that share a double, one is.
 */
export function isExact(number: string): boolean {
  const double = Number(number);
  return Number.isFinite(double) && decimalOf(number) === decimalOf(String(double));
}

/** The value of a number of JSON, spelt in one way. By hand: patterns take too long over millions of digits. */
function decimalOf(number: string): string {
  const sign = number.startsWith('-') ? '-' : '';
  const [mantissa = '', exponent = '0'] = number.slice(sign.length).split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start++;
  if (start === digits.length) return '0';
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
