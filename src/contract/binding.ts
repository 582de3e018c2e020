import type { Description, Part } from './description.ts';
import { namesOf } from './path.ts';

/** How far an entry's digest speaks for the entries before it. */
export interface Binding {
  /** Whether the digest of the entry before is hashed too: then a head stands for all that precedes it. */
  readonly previous: boolean;
  /** The member with the seal, which no digest can cover; null for none. */
  readonly seal: string | null;
}

export function bindingOf({ digest, entry, seal }: Description): Binding {
  const parts = digest.recipe?.preimage ?? [];
  return { previous: parts.some((part) => holds(part, entry.previous)), seal: seal?.field ?? null };
}

/** Whether the text of a part holds all of the value at `path`. */
function holds(part: Part, path: string): boolean {
  if (typeof part === 'string') return true;
  if ('text' in part) return false;
  if ('join' in part) return part.join.fields.some((field) => isWithin(path, field));
  const { json } = part;
  const of = json.of ?? '';
  if (!isWithin(path, of)) return false;
  const [name] = namesOf(path).slice(namesOf(of).length);
  if (name === undefined) return true;
  const chosen = 'fields' in json ? json.fields : undefined;
  return (json.without ?? []).includes(name) ? false : chosen === undefined || chosen.includes(name);
}

function isWithin(path: string, outer: string): boolean {
  return outer === '' || path === outer || path.startsWith(`${outer}.`);
}
