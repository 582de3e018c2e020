import type { EvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { readWritten, type Written } from '../../core/json/source-text.ts';
import { toHex } from '../../verifier/profile/digest-text.ts';
import { namesOf, valueAt } from '../../verifier/profile/path.ts';
import type { Hashed } from '../../verifier/recipe/preimage.ts';
import { isNearlyAll } from './nearly-all.ts';

/** One object that the service sent, with the text it was sent as. */
export interface Sample extends Hashed {
  value: Json;
}

/** An answer of the service, whatever its status; 0 for one that could not be read. */
export interface SampleAnswer {
  status: number;
  text: string;
  /** The Link header (RFC 8288). */
  link: string | null;
  /** The error that a refusal means to a caller who needs the answer. */
  error: EvidenceError | null;
}

/** One request. */
export interface SampleRequest {
  method?: 'GET' | 'POST';
  /** A path below the service's address. */
  url: string;
  /** The path that was asked, if `url` is a reference in its answer. */
  from?: string;
  query?: Record<string, string>;
  body?: Json;
}

/**
 * Asks the service.
 * @throws EvidenceError when it cannot be reached; a refusal is an answer.
 */
export type Ask = (question: SampleRequest) => Promise<SampleAnswer>;

export function isSuccess({ status }: SampleAnswer): boolean {
  return status >= 200 && status < 300;
}

/** The JSON of an answer; undefined when it is none. */
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

/** The objects of the array at a path, each as it was written. */
export function samplesAt(text: string, path: string): Sample[] {
  let here: Written | undefined = readWritten(text);
  for (const name of namesOf(path))
    here = here?.kind === 'object' ? here.members.findLast((member) => member.name === name)?.value : undefined;
  if (here?.kind !== 'array') return [];
  return here.items.map(({ start, end }) => toSample(text.slice(start, end)));
}

type Scalar = null | boolean | number | string;

/** The depth of the search for fields: an entry may be wrapped, and its roles may stand in a part of their own. */
const MAX_PATH = 4;

/** The paths of everything in an object that is neither object nor array. A name that holds a dot has no path. */
export function scalarPaths(value: Json | undefined, depth = MAX_PATH): string[] {
  return pathsIn(value, depth, (inner) => typeof inner !== 'object' || inner === null);
}

/** The paths of the objects within an object. */
export function objectPaths(value: Json | undefined): string[] {
  return pathsIn(value, 2, isObject);
}

/** The paths of the arrays, from the outermost in. */
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

/** The value of a field when it is neither object nor array. */
export function scalarAt(value: Json | undefined, path: string): Scalar | undefined {
  const found = valueAt(value, path);
  return typeof found === 'object' && found !== null ? undefined : found;
}

/** A whole number, also one that is written as text. */
export function wholeNumber(value: Json | undefined): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** The paths that nearly all of the objects have, in the order in which they are first seen. */
export function commonPaths(samples: readonly Sample[]): string[] {
  return allPaths(samples).filter((path) => {
    const holds = samples.filter(({ value }) => scalarAt(value, path) !== undefined).length;
    return isNearlyAll(holds, samples.length);
  });
}

/** As `commonPaths` of what at least one of them has. */
export function allPaths(samples: readonly Sample[]): string[] {
  return [...new Set(samples.flatMap(({ value }) => scalarPaths(value)))];
}

/** The form of a digest, from all the texts that should be digests. */
export interface DigestForm {
  encoding: 'hex' | 'base64' | 'base64url';
  prefix: string;
  bytes: 32 | 48 | 64;
}

const DIGEST_BYTES = [32, 48, 64] as const;

/** @returns null when they are not digests of the SHA-2 family, nearly all written alike. */
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

/** Hex is tried first: it is valid base64 too, and no digest in base64 looks like hex. Padding is the older habit's. */
function encodingsOf(texts: readonly string[]): DigestForm['encoding'][] {
  const older = texts.filter((text) => /[+/=]/.test(text)).length;
  const urls = texts.filter((text) => /[-_]/.test(text)).length;
  return ['hex', older > urls ? 'base64' : 'base64url'];
}
