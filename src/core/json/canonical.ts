import { EvidenceError } from '../errors.ts';

/** Value that `JSON.parse` can return. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Maximum nesting depth: no audit entry needs more, and recursion must be bounded. */
export const MAX_DEPTH = 256;

/**
 * Serializes a value by the JSON Canonicalization Scheme of RFC 8785: members sorted by the UTF-16 code units of their
 * names (3.2.3), strings and numbers as in ECMAScript (3.2.2.2, 3.2.2.3), no white space.
 *
 * @param omit names left out at the top level of an object, e.g. `hash` and `seal` of an audit entry.
 * @throws EvidenceError `unreadable` for a value that RFC 8785 cannot represent: a lone surrogate, a number that is not
 * finite, or nesting beyond `MAX_DEPTH`.
 */
export function canonicalize(value: Json, omit: readonly string[] = []): string {
  return serialize(value, omit, 0);
}

function serialize(value: Json, omit: readonly string[], depth: number): string {
  if (typeof value === 'string') return serializeString(value);
  if (typeof value === 'number') return serializeNumber(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (depth === MAX_DEPTH) throw new EvidenceError('unreadable', `JSON is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return `[${value.map((item) => serialize(item, [], depth + 1)).join(',')}]`;
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    if (omit.includes(name)) continue;
    const member = value[name];
    if (member === undefined) continue;
    members.push(`${serializeString(name)}:${serialize(member, [], depth + 1)}`);
  }
  return `{${members.join(',')}}`;
}

function serializeString(text: string): string {
  if (!text.isWellFormed()) throw new EvidenceError('unreadable', 'a JSON string contains a lone surrogate');
  return JSON.stringify(text);
}

function serializeNumber(number: number): string {
  if (!Number.isFinite(number)) throw new EvidenceError('unreadable', 'a JSON number is too large for a double');
  return JSON.stringify(number);
}
