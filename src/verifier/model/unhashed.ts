/** Something of an entry that could be changed without changing the entry's digest. */
export type Unhashed =
  /** A member, by the names that lead to it. */
  | { readonly kind: 'member'; readonly path: readonly string[] }
  /** The place where a part of the hashed text ends and the next one begins. */
  | {
      readonly kind: 'boundary';
      readonly part: 'previous' | 'json' | 'join';
      /** For a join, its fields; for JSON, the member that is written, none for the entry itself. */
      readonly paths: readonly string[];
    }
  /** The type of a member: 5 and "5" are the same text. */
  | { readonly kind: 'type'; readonly path: string }
  /** All members that say who did what, or to what: an entry lacks them, and another member may be in their place. */
  | { readonly kind: 'absent'; readonly paths: readonly string[] }
  /** More than is kept one by one. */
  | { readonly kind: 'more' };

/** By kind and value: no two different ones have the same key. */
export type UnhashedSet = ReadonlyMap<string, Unhashed>;

export function unhashedKey(unhashed: Unhashed): string {
  return JSON.stringify(unhashed);
}

/** The names that lead to a member as one text, as contracts write paths; a name that holds dots is quoted. */
export function memberText(path: readonly string[]): string {
  return path.map((name) => (name.includes('.') ? JSON.stringify(name) : name)).join('.');
}

const KINDS: readonly Unhashed['kind'][] = ['member', 'boundary', 'type', 'absent', 'more'];

/**
 * The gravest first: members, of these such as play a role, in the order of the roles; what is alike in that, by
 * its key.
 */
export function compareGravity(roles: readonly string[]): (one: Unhashed, other: Unhashed) => number {
  const rank = (unhashed: Unhashed): number => {
    if (unhashed.kind !== 'member') return roles.length + KINDS.indexOf(unhashed.kind);
    const name = memberText(unhashed.path);
    const index = roles.findIndex((role) => role === name || role.startsWith(`${name}.`));
    return index === -1 ? roles.length : index;
  };
  return (one, other) => {
    const [key, otherKey] = [unhashedKey(one), unhashedKey(other)];
    return rank(one) - rank(other) || Number(key > otherKey) - Number(key < otherKey);
  };
}

/** For people: what it is that a digest says nothing about. */
export function unhashedWords(unhashed: Unhashed): string {
  switch (unhashed.kind) {
    case 'member':
      return memberText(unhashed.path);
    case 'boundary':
      return `where ${partWords(unhashed)} ends`;
    case 'type':
      return `the type of ${unhashed.path}`;
    case 'absent':
      return `${unhashed.paths.join(' and ')}, which entries lack`;
    case 'more':
      return 'more';
  }
}

function partWords({ part, paths }: Extract<Unhashed, { kind: 'boundary' }>): string {
  if (part === 'previous') return 'previous';
  return part === 'join' ? `each of ${paths.join(' + ')}` : (paths[0] ?? 'the entry');
}
