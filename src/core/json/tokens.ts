import { EvidenceError } from '../errors.ts';
import { type Json, MAX_DEPTH } from './canonical.ts';

/**
 * Brackets, strings and scalars of a text that `JSON.parse` has accepted, as they are written. Commas and colons are
 * left out: in valid JSON they tell nothing more.
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

/** Behind the closing quote. A pattern would overflow the stack of the matcher on a string of megabytes. */
export function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/**
 * The value of a text that `JSON.parse` has accepted, every member name read by itself. `JSON.parse` of V8 13 compares
 * a name as it is written with the name that followed in objects parsed before; with escapes in it, it then takes
 * `"\""` for that earlier `"\\"`. Whatever it takes wrongly contains a backslash.
 *
 * @throws EvidenceError `unreadable` when it is nested deeper than `MAX_DEPTH`.
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
