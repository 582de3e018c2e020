import { tokensOf } from './tokens.ts';

/** Numbers that change, as written; null if there are none. */
export interface InexactNumbers {
  /** First number that changes as a double. */
  inexact: string | null;
  /** First of these that is an integer as a double, so that it could pass for a count or a sequence number. */
  inexactInteger: string | null;
}

/**
 * Pattern of every number after another sign that may change when it is read: with an exponent, or of more than 15
 * digits. Two decimals of up to 15 digits never share a double (DBL_DIG). Digits in strings may match without effect.
 */
const COULD_CHANGE = /[:[,\s]-?\d(?:[\d.]{15}|[\d.]*[eE])/;

/** Finds the first numbers that change as doubles, in a text that `JSON.parse` has accepted. */
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
 * Reports whether a number equals, as a decimal, the one that RFC 8785 writes for its double: `1.0`, `1e2` and `-0` do,
 * whatever their spelling. Exactly one of all numbers that share a double does.
 */
export function isExact(number: string): boolean {
  const double = Number(number);
  return Number.isFinite(double) && decimalOf(number) === decimalOf(String(double));
}

/**
 * Returns the canonical spelling of a JSON number. Written by hand, because patterns take too long on millions of
 * digits.
 */
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
