import { EvidenceError, messageOf } from '../errors.ts';
import { type Json, MAX_DEPTH } from './canonical.ts';
import { findInexact, type InexactNumbers } from './numbers.ts';
import { parseNameByName } from './tokens.ts';

/**
 * JSON with the answers that a hash chain needs: whether another correct reader could see something else in the same
 * bytes, and whether each number is exactly the one that was sent.
 */
export interface ExactJson extends InexactNumbers {
  value: Json;
  /** Reason why another reader could see something else; null if none could. */
  ambiguity: string | null;
  /** True if a member name occurs twice in one object, the ambiguity that changes values. */
  repeatsName: boolean;
  /** Number of members in all objects. */
  members: number;
  /** Number of levels of objects and arrays. */
  depth: number;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export interface ExactOptions {
  /** Number of members in all objects of the text, if a scanner has already counted them. */
  members?: number;
  /** True if the caller no longer needs the bytes: their memory is released before the text is parsed. */
  spendsBytes?: boolean;
}

/**
 * Parses one JSON text (RFC 8259) and reports whether it is ambiguous: duplicate member names, lone surrogates, invalid
 * UTF-8 (RFC 7493 sections 2.1 and 2.3). Also reports whether a number changes when it becomes a double (section 2.2).
 *
 * @throws EvidenceError `unreadable` if it is not JSON or is nested deeper than `MAX_DEPTH`.
 */
export function parseExactJson(bytes: Uint8Array, { members, spendsBytes = false }: ExactOptions = {}): ExactJson {
  let text: string;
  let invalidUtf8 = false;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    text = lenientUtf8.decode(bytes);
    invalidUtf8 = true;
  }
  const counted = members ?? countMembers(bytes);
  if (spendsBytes) spend(bytes);
  let value = parse(text);
  let census = takeCensus(value);
  if (census.backslashName) {
    value = parseNameByName(text);
    census = takeCensus(value);
  }
  const repeatsName = census.members !== counted;
  const ambiguity = invalidUtf8
    ? 'the text is not valid UTF-8'
    : repeatsName
      ? 'a member name occurs twice in one object'
      : census.loneSurrogate
        ? 'a string contains a lone surrogate'
        : null;
  const { depth } = census;
  return { value, ambiguity, repeatsName, members: counted, depth, ...findInexact(text) };
}

/** Releases the memory of bytes, unless they share a buffer, as small ones do. */
function spend({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EvidenceError('unreadable', `not JSON: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Counts the name separators outside of strings. Every member has exactly one, so a parse that kept fewer members has
 * dropped a duplicate. The count is meaningless if the bytes are not JSON.
 */
export function countMembers(bytes: Uint8Array): number {
  let members = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x3a) members++;
  }
  return members;
}

interface Census {
  members: number;
  loneSurrogate: boolean;
  backslashName: boolean;
  depth: number;
}

function takeCensus(value: Json): Census {
  const census: Census = { members: 0, loneSurrogate: false, backslashName: false, depth: 0 };
  count(value, census, 0);
  return census;
}

function count(value: Json, census: Census, depth: number): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) census.loneSurrogate = true;
  } else if (typeof value === 'object' && value !== null) {
    if (depth === MAX_DEPTH) throw new EvidenceError('unreadable', `JSON is nested deeper than ${MAX_DEPTH} levels`);
    census.depth = Math.max(census.depth, depth + 1);
    if (Array.isArray(value)) {
      for (const item of value) count(item, census, depth + 1);
    } else {
      // Visits the same names as `Object.keys`, without allocating an array per object: results of JSON.parse inherit
      // no names.
      for (const name in value) {
        census.members++;
        if (!name.isWellFormed()) census.loneSurrogate = true;
        if (name.includes('\\')) census.backslashName = true;
        count(value[name] as Json, census, depth + 1);
      }
    }
  }
}
