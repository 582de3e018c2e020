import { utf8Text } from '../../core/bytes.ts';
import type { Json } from '../../core/json/canonical.ts';
import { compareGravity, type Unhashed } from '../model/unhashed.ts';
import type { Description } from '../profile/description.ts';
import type { PreimagePart } from '../profile/digest-description.ts';
import { namesOf, valueAt } from '../profile/path.ts';
import { fieldText, type Hashed, type Write } from './preimage.ts';

interface WrittenPart {
  part: PreimagePart;
  write: Write;
}

/**
 * Compiles a function that returns the parts of an entry which could change without changing its digest: unhashed
 * members, and ambiguities of the hashed text about the others.
 */
export function compileUnhashed(
  parts: readonly WrittenPart[],
  description: Description,
): (entry: Hashed) => readonly Unhashed[] {
  if (coversAll(parts, description)) return () => NOTHING;
  const roles = rolesOf(description);
  const members = compileMembers(parts, description);
  const joins = parts.flatMap(({ part }) => (typeof part === 'object' && 'join' in part ? [part.join] : []));
  const boundaries = compileBoundaries(parts, description);
  const parties = partiesOf(description);
  const gravity = compareGravity(roles);
  return (entry) =>
    [
      ...members(entry.value),
      ...boundaries(entry),
      ...joins.flatMap((join) => looseTypes(entry, join, roles)).map(looseType),
      ...parties.filter((paths) => paths.every((path) => valueAt(entry.value, path) === undefined)).map(absent),
    ].toSorted(gravity);
}

/** Returns the members that state actor, action and resource; those of one role together. */
export function partiesOf({ entry: { actor, action, resource } }: Description): string[][] {
  return [actor, action, resource].flatMap((paths) => (paths == null ? [] : [[paths].flat()]));
}

export function absent(paths: readonly string[]): Unhashed {
  return { kind: 'absent', paths };
}

const NOTHING: readonly Unhashed[] = [];

export function looseType(path: string): Unhashed {
  return { kind: 'type', path };
}

/** Returns the end of a part of the preimage as an unhashed boundary. */
export function boundaryOf(part: PreimagePart): Unhashed {
  if (typeof part === 'string') return { kind: 'boundary', part: 'previous', paths: [] };
  if ('join' in part) return { kind: 'boundary', part: 'join', paths: part.join.fields };
  const of = 'json' in part ? (part.json.of ?? '') : '';
  return { kind: 'boundary', part: 'json', paths: of === '' ? [] : [of] };
}

/** Reports whether the recipe is the usual one: a single JSON of the whole entry except digest and seal. */
function coversAll(parts: readonly WrittenPart[], { entry, seal }: Description): boolean {
  const [only] = parts;
  if (parts.length !== 1 || only === undefined || typeof only.part === 'string' || !('json' in only.part)) return false;
  const { json } = only.part;
  const chosen = 'fields' in json ? json.fields : undefined;
  const whole = (json.of ?? '') === '' && chosen === undefined;
  return whole && (json.without ?? []).every((name) => name === entry.digest || name === seal?.field);
}

/** Returns the paths whose type the contract fixes, the gravest first. */
export function rolesOf({ entry }: Description): string[] {
  const paths = [entry.sequence, entry.previous, entry.stream_id, entry.timestamp, entry.entry_id];
  return paths.filter((path) => path !== null);
}

/** Extent to which the value at a path is hashed. */
type Reach = 'all' | 'within' | 'none';
type Cover = (path: readonly string[], value: Json) => Reach;

function compileMembers(parts: readonly WrittenPart[], { entry, seal }: Description): (value: Json) => Unhashed[] {
  // Digest and seal cannot cover themselves.
  const itself = [entry.digest, ...(seal === null ? [] : [seal.field])];
  const covers = [...itself.map(coverOfPath), ...parts.flatMap(({ part }) => coversOf(part, entry.previous))];
  const collect = (path: readonly string[], value: Json): Unhashed[] => {
    const reaches = covers.map((cover) => cover(path, value));
    if (reaches.includes('all')) return [];
    if (!reaches.includes('within') || !isObject(value)) return [{ kind: 'member', path }];
    return Object.entries(value).flatMap(([name, inner]) => collect([...path, name], inner));
  };
  return (value) => {
    if (!isObject(value)) return [];
    return Object.entries(value).flatMap(([name, inner]) => collect([name], inner));
  };
}

/** Returns how much of the value at a path is hashed in every entry; for an object there, at most that much. */
export function reachOf(path: string, { entry, digest }: Description): Reach {
  const covers = (digest.recipe?.preimage ?? []).flatMap((part) => coversOf(part, entry.previous));
  const reaches = covers.map((cover) => cover(namesOf(path), {}));
  return reaches.includes('all') ? 'all' : reaches.includes('within') ? 'within' : 'none';
}

function coversOf(part: PreimagePart, previous: string): Cover[] {
  if (typeof part === 'string') return [coverOfPath(previous)];
  if ('text' in part) return [];
  if ('join' in part) return part.join.fields.map(coverOfPath);
  const { json } = part;
  const of = namesOf(json.of ?? '');
  const without = new Set(json.without);
  const chosen = 'fields' in json && json.fields !== undefined ? new Set(json.fields) : null;
  const everything = chosen === null && without.size === 0;
  return [
    (path, value) => {
      const shared = Math.min(path.length, of.length);
      for (let index = 0; index < shared; index++) if (path[index] !== of[index]) return 'none';
      if (path.length < of.length) return 'within';
      // Members are selected only from an object.
      if (path.length === of.length) return everything || !isObject(value) ? 'all' : 'within';
      const name = path[of.length] ?? '';
      return !without.has(name) && (chosen === null || chosen.has(name)) ? 'all' : 'none';
    },
  ];
}

function coverOfPath(covered: string): Cover {
  const names = namesOf(covered);
  return (path) => {
    const shared = Math.min(path.length, names.length);
    for (let index = 0; index < shared; index++) if (path[index] !== names[index]) return 'none';
    return path.length < names.length ? 'within' : 'all';
  };
}

function isObject(value: Json): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Join = Extract<PreimagePart, { join: unknown }>['join'];

const ALSO_JSON = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|[[{].*)$/s;

/** Returns the fields that would be joined as the same text if sent as another type: 5 and "5", null and "". */
function looseTypes(entry: Hashed, { fields, null_as }: Join, roles: readonly string[]): string[] {
  return fields.filter((field) => {
    if (roles.includes(field)) return false;
    const sent = valueAt(entry.value, field);
    return typeof sent !== 'string' || sent === null_as || ALSO_JSON.test(sent);
  });
}

/**
 * Compiles a function that returns the boundaries at which the hashed text could be split in another way. A digest has
 * a fixed length, and JSON shows its own end; a joined field ends unambiguously only if no text contains the separator.
 */
function compileBoundaries(parts: readonly WrittenPart[], { digest }: Description): (entry: Hashed) => Unhashed[] {
  return (entry) =>
    parts.flatMap(({ part, write }, index) => {
      const rest = parts.slice(index + 1);
      if (part === 'previous') {
        // Base64 padding may be absent, so it could belong to the text after the digest.
        const next = rest[0];
        return digest.encoding !== 'hex' && next !== undefined && !startsAsJson(next.part) ? [boundaryOf(part)] : [];
      }
      if (typeof part === 'string' || 'text' in part) return [];
      const another = rest.findIndex((other) => varies(other.part));
      if ('json' in part) return another !== -1 && /^[-\d]/.test(textOf(entry, write)) ? [boundaryOf(part)] : [];
      return openJoin(entry, part.join, rest) ? [boundaryOf(part)] : [];
    });
}

/**
 * Returns when the boundaries of a join are open: always; or if the join and `parts` further parts hold the separator
 * another number of times than `separators`; null for never.
 */
export function joinBoundary(
  { separator, fields }: Join,
  rest: readonly PreimagePart[],
): 'open' | { parts: number; separators: number } | null {
  const last = rest.findIndex(varies);
  if (last !== -1) {
    const [between] = rest;
    const same = typeof between === 'object' && 'text' in between && between.text === separator;
    return last !== 1 || !same || separator === '' ? 'open' : { parts: 2, separators: fields.length };
  }
  if (fields.length === 1) return null;
  return separator === '' ? 'open' : { parts: 0, separators: fields.length - 1 };
}

function openJoin(entry: Hashed, join: Join, rest: readonly WrittenPart[]): boolean {
  const { separator, fields, null_as } = join;
  const boundary = joinBoundary(
    join,
    rest.map(({ part }) => part),
  );
  if (boundary === null || boundary === 'open') return boundary === 'open';
  const cells = fields.map((field) => fieldText(entry, field, null_as));
  const last = boundary.parts === 0 ? undefined : rest[boundary.parts - 1];
  if (last !== undefined) cells.push(textOf(entry, last.write));
  return occurrences(cells.join(separator), separator) !== boundary.separators;
}

/** Counts overlapping occurrences, too: with separator "||", "a|" and "b" give the same text as "a" and "|b". */
function occurrences(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) count++;
  return count;
}

export function varies(part: PreimagePart): boolean {
  return typeof part === 'object' && !('text' in part);
}

export function startsAsJson(part: PreimagePart): boolean {
  return typeof part === 'object' && ('json' in part || ('text' in part && part.text !== '' && part.text[0] !== '='));
}

function textOf(entry: Hashed, write: Write): string {
  const written = write(entry);
  return typeof written === 'string' ? written.toWellFormed() : utf8Text(written);
}
