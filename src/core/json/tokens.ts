import { EvidenceError } from '../errors.ts';
import { type Json, MAX_DEPTH } from './canonical.ts';

/**
 * Yields brackets, strings and scalars as written, of a text that `JSON.parse` has accepted. Leaves out commas and
 * colons, which add nothing in valid JSON.
 */
export function* tokensOf(json: string): Generator<string> {
  for (let at = 0; at < json.length; ) {
    const sign = json[at] as string;
    let end = at + 1;
    if (sign === '"') end = endOfString(json, at);
    else if (SCALAR.test(sign)) while (end < json.length && SCALAR.test(json[end] as string)) end++;
    if (!BETWEEN.test(sign)) yield json.slice(at, end);
    at = end;
  }
}

const SCALAR = /[-+.0-9A-Za-z]/;
const BETWEEN = /[\s,:]/;

/**
 * Returns the offset after the closing quote. Uses no pattern, which would overflow the matcher's stack on a long
 * string.
 */
export function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/**
 * Parses a text that `JSON.parse` has accepted, reading every member name separately. `JSON.parse` of V8 13 compares a
 * name as written with the name that followed in objects parsed before; with escapes, it then takes `"\""` for an
 * earlier `"\\"`. Every name that it gets wrong contains a backslash.
 *
 * @throws EvidenceError `unreadable` if it is nested deeper than `MAX_DEPTH`.
 */
export function parseNameByName(json: string): Json {
  const tokens = tokensOf(json);
  const next = (): string => tokens.next().value ?? '';
  const read = (token: string, depth: number): Json => {
    if (token !== '[' && token !== '{') return JSON.parse(token);
    if (depth === MAX_DEPTH) throw new EvidenceError('unreadable', `JSON is nested deeper than ${MAX_DEPTH} levels`);
    if (token === '[') {
      const items: Json[] = [];
      for (let item = next(); item !== ']'; item = next()) items.push(read(item, depth + 1));
      return items;
    }
    const members: [string, Json][] = [];
    for (let name = next(); name !== '}'; name = next()) members.push([JSON.parse(name), read(next(), depth + 1)]);
    return Object.fromEntries(members);
  };
  return read(next(), 0);
}
