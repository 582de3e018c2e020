import type { z } from 'zod';

const SHAPES: Record<string, string> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'a mapping',
  record: 'a mapping',
  string: 'text',
};

const FORMATS: Record<string, string> = {
  datetime: 'expected a time like 2026-01-31T00:00:00Z',
  url: 'expected a URL that starts with http:// or https://',
};

/** Returns the words for a shape in a schema. */
export function shapeName(expected: string): string {
  return SHAPES[expected] ?? `a value of the kind "${expected}"`;
}

/** Returns the schema's own message for a wrong value or, without one, a plain explanation. */
export function ownOrPlainWords(issue: z.core.$ZodIssue): string {
  return /^(Too (small|big)|Invalid)/.test(issue.message) ? inPlainWords(issue) : issue.message;
}

/** Explains a wrong value in words that need no knowledge of schemas. Does not repeat the value. */
export function inPlainWords(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${shapeName(issue.expected)}`;
    case 'invalid_value':
      return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return `expected ${measureOf(issue.origin, 'at least', issue.minimum, issue.inclusive === false)}`;
    case 'too_big':
      return `expected ${measureOf(issue.origin, 'at most', issue.maximum, issue.inclusive === false)}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? issue.message;
    default:
      return issue.message;
  }
}

function measureOf(origin: string, bound: 'at least' | 'at most', limit: number | bigint, isOpen: boolean): string {
  if (origin === 'string')
    return limit === 1 && bound === 'at least' ? 'non-empty text' : `text of ${bound} ${limit} characters`;
  if (origin === 'array')
    return limit === 1 && bound === 'at least' ? 'a non-empty list' : `a list of ${bound} ${limit}`;
  if (!isOpen) return `a number of ${bound} ${limit}`;
  return `a number ${bound === 'at least' ? 'above' : 'below'} ${limit}`;
}
