/** Part of an entry that can change without changing the entry's digest. */
export type Unhashed =
  /** Member, by the names on the path to it. */
  | { readonly kind: 'member'; readonly path: readonly string[] }
  /** Place in the hashed text at which one part ends and the next begins. */
  | {
      readonly kind: 'boundary';
      readonly part: 'previous' | 'json' | 'join';
      /** Fields of a join; for JSON, the serialized member, none for the entry itself. */
      readonly paths: readonly string[];
    }
  /** Type of a member: 5 and "5" are hashed as the same text. */
  | { readonly kind: 'type'; readonly path: string }
  /**
   * All members that state the actor, action or resource: the entry lacks them, so another member may take their place.
   */
  | { readonly kind: 'absent'; readonly paths: readonly string[] }
  /** More parts than are kept one by one. */
  | { readonly kind: 'more' };

/** Keyed by `unhashedKey`: different parts have different keys. */
export type UnhashedSet = ReadonlyMap<string, Unhashed>;

export function unhashedKey(unhashed: Unhashed): string {
  return JSON.stringify(unhashed);
}

/** Joins the names on the path to a member as contracts write paths. A name that holds dots is quoted. */
export function memberText(path: readonly string[]): string {
  return path.map((name) => (name.includes('.') ? JSON.stringify(name) : name)).join('.');
}

const KINDS: readonly Unhashed['kind'][] = ['member', 'boundary', 'type', 'absent', 'more'];

/**
 * Returns a comparison that sorts the gravest first: members with a role in the order of `roles`, then other members,
 * then the other kinds. Ties are sorted by key.
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

/** Describes a part that a digest does not cover, for people. */
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
