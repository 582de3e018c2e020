import { memberText, type Unhashed, unhashedKey } from '../model/unhashed.ts';
import type { Description } from '../profile/description.ts';
import type { PreimagePart } from '../profile/digest-description.ts';
import { namesOf } from '../profile/path.ts';
import { absent, boundaryOf, joinBoundary, looseType, partiesOf, reachOf, varies } from './cover.ts';

/**
 * Roles that the digest of an entry must cover, so that it states who did what, when, and its place in which stream.
 */
export const ROLES = ['stream', 'sequence', 'link', 'time', 'actor', 'action', 'resource'] as const;
export type EntryRole = (typeof ROLES)[number];

/** Role of entries that their digests do not cover, or may not cover. */
export interface OpenRole {
  role: EntryRole;
  /** Part that is not covered; null if entries do not state the role at all. */
  unhashed: Unhashed | null;
  /** True if the contract specifies the member of the role; otherwise any uncovered member may play it. */
  named: boolean;
}

interface RoleCover {
  /** See `EntryReader`. */
  bindsPredecessor: boolean;
  unhashedSeal: Unhashed | null;
  openRoles(unhashed: Iterable<Unhashed>): OpenRole[];
}

/** Returns the roles that the digests of a contract cover. */
export function compileCover(description: Description): RoleCover {
  const { entry, digest, seal } = description;
  const parts = digest.recipe?.preimage ?? [];
  const paths = pathsOf(description);
  const loosened = touchedPaths(parts, entry.previous);
  for (const party of partiesOf(description)) loosened.set(unhashedKey(absent(party)), party);
  const always = ROLES.flatMap((role): OpenRole[] => {
    const of = paths[role];
    // An actor, action or resource may be in an unknown member; a stream and a time are either specified or not stated.
    if (of === null) return role === 'stream' || role === 'time' ? [{ role, unhashed: null, named: true }] : [];
    return of
      .filter((path) => reachOf(path, description) === 'none')
      .map((path) => ({ role, unhashed: memberAt(path), named: true }));
  });
  const opened = (unhashed: Unhashed): OpenRole[] => {
    if (unhashed.kind === 'more') return ROLES.map((role) => ({ role, unhashed, named: false }));
    const touched =
      loosened.get(unhashedKey(unhashed)) ?? (unhashed.kind === 'member' ? [memberText(unhashed.path)] : []);
    return ROLES.flatMap((role): OpenRole[] => {
      const of = paths[role];
      if (of === null) return role === 'stream' || role === 'time' ? [] : [{ role, unhashed, named: false }];
      if (of.some((path) => touched.some((other) => overlap(path, other)))) return [{ role, unhashed, named: true }];
      return touched.some((other) => USUAL[role]?.test(other)) ? [{ role, unhashed, named: false }] : [];
    });
  };
  return {
    bindsPredecessor: reachOf(entry.previous, description) === 'all' && !opensLink(parts, entry.previous),
    unhashedSeal: seal !== null && reachOf(seal.field, description) !== 'all' ? memberAt(seal.field) : null,
    openRoles: (unhashed) => {
      const all = [...always, ...[...unhashed].flatMap(opened)];
      return [...new Map(all.map((open) => [JSON.stringify([open.role, open.unhashed]), open])).values()];
    },
  };
}

/** Usual names of members for a role, whatever the contract specifies. */
const USUAL: Partial<Record<EntryRole, RegExp>> = {
  actor: /(^|\.)(actor|user|principal|subject)([._]?(id|name|email))?$/i,
  action: /(^|\.)(action|event|operation|verb)([._]?(type|name))?$/i,
  resource: /(^|\.)(resource|target|object)([._]?(type|id|name))?$/i,
};

function memberAt(path: string): Unhashed {
  return { kind: 'member', path: namesOf(path) };
}

type RolePaths = Record<EntryRole, string[] | null>;

function pathsOf({ entry }: Description): RolePaths {
  const list = (paths: string | string[] | null | undefined) => (paths == null ? null : [paths].flat());
  return {
    stream: list(entry.stream_id),
    sequence: [entry.sequence],
    link: [entry.previous],
    time: list(entry.timestamp),
    actor: list(entry.actor),
    action: list(entry.action),
    resource: list(entry.resource),
  };
}

/** Reports whether one path contains the other or they are equal. The empty path is the entry itself. */
function overlap(path: string, other: string): boolean {
  return other === '' || path === other || path.startsWith(`${other}.`) || other.startsWith(`${path}.`);
}

/**
 * Returns the members whose values are uncertain where a recipe leaves a type or a boundary open, by the key of that
 * part.
 */
function touchedPaths(parts: readonly PreimagePart[], previous: string): Map<string, string[]> {
  const touched = new Map<string, string[]>();
  const add = (unhashed: Unhashed, paths: string[]) => {
    const key = unhashedKey(unhashed);
    touched.set(key, [...(touched.get(key) ?? []), ...paths]);
  };
  for (const [index, part] of parts.entries()) {
    const around = parts.slice(index).flatMap((other) => membersOf(other, previous));
    if (part === 'previous' || varies(part)) add(boundaryOf(part), around);
    if (typeof part === 'object' && 'join' in part)
      for (const field of part.join.fields) add(looseType(field), [field]);
  }
  return touched;
}

function membersOf(part: PreimagePart, previous: string): string[] {
  if (typeof part === 'string') return [previous];
  if ('text' in part) return [];
  return 'join' in part ? part.join.fields : [part.json.of ?? ''];
}

/** Reports whether the end of the predecessor's digest is open in every entry. */
function opensLink(parts: readonly PreimagePart[], previous: string): boolean {
  return parts.some((part, index) => {
    if (typeof part !== 'object' || !('join' in part) || !part.join.fields.includes(previous)) return false;
    return joinBoundary(part.join, parts.slice(index + 1)) === 'open';
  });
}
