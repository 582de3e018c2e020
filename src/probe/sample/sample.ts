import type { EvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { readWritten, type Written } from '../../core/json/source-text.ts';
import { toHex } from '../../verifier/profile/digest-text.ts';
import { namesOf, valueAt } from '../../verifier/profile/path.ts';
import type { Hashed } from '../../verifier/recipe/preimage.ts';
import { isNearlyAll } from './nearly-all.ts';

/** Object that the service sent, with its original text. */
export interface Sample extends Hashed {
  value: Json;
}

/** Answer of the service with any status; 0 if it could not be read. */
export interface SampleAnswer {
  status: number;
  text: string;
  /** `Link` header (RFC 8288). */
  link: string | null;
  /** Error of a refusal, for callers that need the answer. */
  error: EvidenceError | null;
}

/** Request to the service. */
export interface SampleRequest {
  method?: 'GET' | 'POST';
  /** Path below the service's address. */
  url: string;
  /** Path that was requested before, if `url` is a reference in its answer. */
  from?: string;
  query?: Record<string, string>;
  body?: Json;
}

/**
 * Sends a request to the service.
 * @throws EvidenceError if the service cannot be reached; a refusal is an answer.
 */
export type Ask = (question: SampleRequest) => Promise<SampleAnswer>;

export function isSuccess({ status }: SampleAnswer): boolean {
  return status >= 200 && status < 300;
}

/** Parses an answer as JSON; undefined if it is none. */
export function jsonOf({ text }: SampleAnswer): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function toSample(text: string): Sample {
  let written: Written | undefined;
  return {
    value: JSON.parse(text),
    text: () => text,
    written: () => {
      written ??= readWritten(text);
      return written;
    },
  };
}

/** Returns the objects of the array at a path, each with its original text. */
export function samplesAt(text: string, path: string): Sample[] {
  let here: Written | undefined = readWritten(text);
  for (const name of namesOf(path))
    here = here?.kind === 'object' ? here.members.findLast((member) => member.name === name)?.value : undefined;
  if (here?.kind !== 'array') return [];
  return here.items.map(({ start, end }) => toSample(text.slice(start, end)));
}

type Scalar = null | boolean | number | string;

/** Maximum depth of the search for fields: an entry may be wrapped, and its roles may be in a nested object. */
const MAX_PATH = 4;

/** Returns the paths of all members that are neither objects nor arrays. A name that contains a dot has no path. */
export function scalarPaths(value: Json | undefined, depth = MAX_PATH): string[] {
  return pathsIn(value, depth, (inner) => typeof inner !== 'object' || inner === null);
}

/** Returns the paths of the objects in an object. */
export function objectPaths(value: Json | undefined): string[] {
  return pathsIn(value, 2, isObject);
}

/** Returns the paths of arrays, the outermost first. */
export function arrayPaths(value: Json | undefined): string[] {
  if (Array.isArray(value)) return [''];
  return pathsIn(value, MAX_PATH, Array.isArray).toSorted((a, b) => namesOf(a).length - namesOf(b).length);
}

function pathsIn(value: Json | undefined, depth: number, wanted: (inner: Json) => boolean): string[] {
  if (!isObject(value) || depth === 0) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (name === '' || name.includes('.')) return [];
    const within = pathsIn(inner, depth - 1, wanted).map((path) => `${name}.${path}`);
    return wanted(inner) ? [name, ...within] : within;
  });
}

export function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value of a field unless it is an object or array. */
export function scalarAt(value: Json | undefined, path: string): Scalar | undefined {
  const found = valueAt(value, path);
  return typeof found === 'object' && found !== null ? undefined : found;
}

/** Reads a non-negative whole number, also from text. */
export function wholeNumber(value: Json | undefined): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** Returns the paths that nearly all objects have, in the order of first occurrence. */
export function commonPaths(samples: readonly Sample[]): string[] {
  return allPaths(samples).filter((path) => {
    const holds = samples.filter(({ value }) => scalarAt(value, path) !== undefined).length;
    return isNearlyAll(holds, samples.length);
  });
}

/** Returns the paths that at least one object has, in the order of first occurrence. */
export function allPaths(samples: readonly Sample[]): string[] {
  return [...new Set(samples.flatMap(({ value }) => scalarPaths(value)))];
}

/** Form of a digest, determined from all texts that should be digests. */
export interface DigestForm {
  encoding: 'hex' | 'base64' | 'base64url';
  prefix: string;
  bytes: 32 | 48 | 64;
}

const DIGEST_BYTES = [32, 48, 64] as const;

/** @returns null unless the values are SHA-2 digests, nearly all in the same form. */
export function digestFormOf(values: readonly (Json | undefined)[]): DigestForm | null {
  const texts = values.filter((value) => typeof value === 'string');
  const prefix = commonest(texts.map((text) => /^[A-Za-z0-9-]{2,12}[:=]/.exec(text)?.[0] ?? ''));
  const bare = texts.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length));
  for (const encoding of encodingsOf(bare)) {
    const lengths = bare.map((text) => (toHex(text, encoding)?.length ?? 0) / 2);
    const bytes = DIGEST_BYTES.find((length) =>
      isNearlyAll(lengths.filter((one) => one === length).length, values.length),
    );
    if (bytes !== undefined && values.length > 0) return { encoding, prefix, bytes };
  }
  return null;
}

function commonest(texts: readonly string[]): string {
  const groups = [...Map.groupBy(texts, (text) => text)];
  return groups.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? '';
}

/**
 * Returns the encodings to try. Hex comes first: hex digits are valid base64 too, but no base64 digest looks like hex.
 * The characters +, / and padding indicate base64, - and _ base64url.
 */
function encodingsOf(texts: readonly string[]): DigestForm['encoding'][] {
  const older = texts.filter((text) => /[+/=]/.test(text)).length;
  const urls = texts.filter((text) => /[-_]/.test(text)).length;
  return ['hex', older > urls ? 'base64' : 'base64url'];
}
