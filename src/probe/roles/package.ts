import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../../verifier/profile/description.ts';
import { namesOf, valueAt } from '../../verifier/profile/path.ts';
import { byName, preferByName } from '../sample/names.ts';
import { isNearlyAll } from '../sample/nearly-all.ts';
import {
  allPaths,
  arrayPaths,
  digestFormOf,
  isObject,
  type Sample,
  samplesAt,
  scalarAt,
  scalarPaths,
  wholeNumber,
} from '../sample/sample.ts';
import { type ChainRoles, inSequence, numberAt } from './chain.ts';
import { pathsOfValue, timeOf } from './entry.ts';

type PackageForm = Description['package'];

/** Returns the path of the entries: the array whose items nearly all have the fields of a chain. */
export function entriesPathOf(document: Json, { digest, sequence }: ChainRoles): string | null {
  const paths = arrayPaths(document).filter((path) => {
    const items = valueAt(document, path) as Json[];
    const fitting = items.filter(
      (item) => scalarAt(item, digest) !== undefined && scalarAt(item, sequence) !== undefined,
    );
    return items.length > 0 && isNearlyAll(fitting.length, items.length);
  });
  const size = (path: string) => (valueAt(document, path) as Json[]).length;
  return paths.toSorted((a, b) => size(b) - size(a))[0] ?? null;
}

/** Finds the package's statements about itself by value: fields that equal known facts about it. */
export function findPackageFields(
  document: Json,
  entries: readonly Sample[],
  roles: ChainRoles,
  known: { packageId: string; streamId: string | null },
): PackageForm['fields'] {
  const sorted = inSequence(entries, roles.sequence);
  const last = sorted.at(-1);
  const heads = pathsOfValue(document, scalarAt(last?.value, roles.digest));
  const times = scalarPaths(document).filter((path) => timeOf(scalarAt(document, path), 'text') !== null);
  const numberOf = (sample: Sample | undefined) =>
    sample === undefined ? Number.NaN : numberAt(sample.value, roles.sequence);
  const equalTo = (wanted: number) =>
    scalarPaths(document).filter((path) => wholeNumber(scalarAt(document, path)) === wanted);
  const isCount = [/count|total|size|length/, /^(entries|events|records|logs)$/];
  const firsts = [/^(first|from|start)\b.*(seq|position|index|number)/, /^(first|start)\b/];
  const lasts = [/^(last|to|end)\b.*(seq|position|index|number)/, /^(last|head|end)\b/];
  // A package of the account has no single head or first entry.
  const ofStream = (path: string | undefined) => (known.streamId === null ? null : (path ?? null));
  return {
    package_id: preferByName(pathsOfValue(document, known.packageId), [/package|evidence/, /id$/]) ?? null,
    stream_id: ofStream(preferByName(pathsOfValue(document, known.streamId), [/stream id/, /stream/, /^id$/])),
    entry_count: byName(equalTo(entries.length), isCount) ?? null,
    first_sequence: ofStream(byName(equalTo(numberOf(sorted[0])), firsts)),
    last_sequence: ofStream(byName(equalTo(numberOf(last)), lasts)),
    head_digest: ofStream(preferByName(heads, [/^head/, /^(last|final|tip)/])),
    generated_at: byName(times, [/^generated( at| on)?$/, /generated|exported|issued/, /^created( at| on)?$/]) ?? null,
  };
}

const CALLED = {
  entry_count:
    /^(?:entry|record|event|log) (?:count|total)$|^(?:total|count|number)(?: of)?(?: (?:entries|records|events|logs))?$/,
  last_sequence: /^(?:last|head)\b.*\b(?:seq|sequence|position)/,
  head_digest: /^(?:head|last|tip)\b.*\b(?:hash|digest|mac|checksum)/,
};

/** Returns fields named like a count or head, if no field equals it: each may state another value. */
export function unlikeNamed(document: Json, found: Record<keyof typeof CALLED, string | null>): string[] {
  return (Object.keys(CALLED) as (keyof typeof CALLED)[]).flatMap((role) => {
    const paths = scalarPaths(document).filter((path) => {
      const sent = scalarAt(document, path);
      return role === 'head_digest' ? digestFormOf([sent]) !== null : wholeNumber(sent) !== null;
    });
    const path = found[role] === null ? byName(paths, [CALLED[role]]) : undefined;
    return path === undefined ? [] : [path];
  });
}

/** Finds the text that identifies the format of the package: named format or schema, with a version in the value. */
export function findFormat(document: Json): PackageForm['format'] {
  const texts = scalarPaths(document).filter((path) => {
    const sent = scalarAt(document, path);
    return typeof sent === 'string' && /^[\w.:+-]*[a-z][\w.:+-]*[/@:-]?v?\d[\w.]*$/i.test(sent) && sent.length <= 60;
  });
  const field = byName(texts, [/^(format|schema|package format|format version|schema version)$/]);
  return field === undefined ? null : { field, is: String(scalarAt(document, field)) };
}

/** DER of a token or of a response begins with 30 82: a SEQUENCE of some thousand bytes (RFC 3161 section 2.4.2). */
const TOKEN = {
  base64: /^MI[IJKL][A-Za-z0-9+/\s]+=*$/,
  base64url: /^MI[IJKL][A-Za-z0-9_-]+=*$/,
  hex: /^3082[0-9a-f]+$/i,
};

/**
 * Finds checkpoints: a list of objects with number and digest of an entry and an RFC 3161 token; and the number of
 * objects that match no entry.
 */
export function findCheckpoints(
  text: string,
  entries: readonly Sample[],
  roles: ChainRoles,
  entriesPath: string,
  streamId: string | null,
): { form: PackageForm['checkpoints']; differ: number } {
  const digests = new Map(entries.map(({ value }) => [numberAt(value, roles.sequence), scalarAt(value, roles.digest)]));
  const document: Json = JSON.parse(text);
  let unlike = 0;
  for (const items of arrayPaths(document)) {
    const points = samplesAt(text, items);
    if (items === entriesPath || points.length === 0 || !points.every(({ value }) => isObject(value))) continue;
    const paths = allPaths(points);
    for (const [token, token_encoding] of tokensIn(points, paths)) {
      unlike = points.length;
      const fields = findPointFields(points, paths, digests);
      if (fields === null) continue;
      const { sequence, digest, holds } = fields;
      const ids = paths.filter(
        (path) => streamId !== null && points.some(({ value }) => scalarAt(value, path) === streamId),
      );
      const stream_id = preferByName(ids, [/stream/]) ?? null;
      const form = { items, stream_id, sequence, digest, token, token_encoding };
      return { form, differ: points.length - holds };
    }
  }
  return { form: null, differ: unlike };
}

/** Yields the fields that look like tokens, with their encoding. */
function* tokensIn(
  points: readonly Sample[],
  paths: readonly string[],
): Generator<[path: string, encoding: keyof typeof TOKEN]> {
  for (const path of paths)
    for (const encoding of ['base64', 'base64url', 'hex'] as const) {
      const isToken = (sent: unknown) => typeof sent === 'string' && TOKEN[encoding].test(sent);
      if (points.some(({ value }) => isToken(scalarAt(value, path)))) yield [path, encoding];
    }
}

/**
 * Finds the fields with number and digest of an entry. One matching digest is sufficient, because a match by chance is
 * impossible.
 */
function findPointFields(
  points: readonly Sample[],
  paths: readonly string[],
  digests: ReadonlyMap<number | null, unknown>,
): { sequence: string; digest: string; holds: number } | null {
  for (const sequence of paths)
    for (const digest of paths) {
      if (sequence === digest) continue;
      const holds = points.filter(({ value }) => {
        const wanted = digests.get(numberAt(value, sequence));
        return wanted !== undefined && scalarAt(value, digest) === wanted;
      }).length;
      if (holds > 0) return { sequence, digest, holds };
    }
  return null;
}

/** Finds the summary's facts by value; null if the summary is no JSON object. */
export function findSummary(
  summary: Json | undefined,
  entries: readonly Sample[],
  roles: ChainRoles,
  known: { packageId: string; streamId: string | null },
): Description['summary'] {
  if (!isObject(summary)) return null;
  const { package_id, stream_id, entry_count, head_digest } = findPackageFields(summary, entries, roles, known);
  return { package_id, stream_id, entry_count, head_digest, actions: null };
}

/** Guesses the path of a package's entries from the items path of the list. */
export function guessEntriesPath(listItems: string): string {
  const name = namesOf(listItems).at(-1);
  return name === undefined || /^(data|items|results|list|rows|content)$/.test(name) ? 'entries' : name;
}
