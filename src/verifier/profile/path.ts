import type { Json } from '../../core/json/canonical.ts';
import type { Written } from '../../core/json/source-text.ts';

/** Returns the names of a path of a contract file; none for the empty path, which is the value itself. */
export function namesOf(path: string): string[] {
  return path === '' ? [] : path.split('.');
}

const SPLIT = new Map<string, readonly string[]>();

/** Returns the same as `namesOf`, cached for the few paths that are read in every entry. */
function splitOnce(path: string): readonly string[] {
  let names = SPLIT.get(path);
  if (names === undefined) {
    names = namesOf(path);
    if (SPLIT.size < 1000) SPLIT.set(path, names);
  }
  return names;
}

/** Returns the value at a path: undefined if it is absent, and null if a value on the way is null. */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  let here = value;
  for (const name of splitOnce(path)) {
    if (here === null || here === undefined) return here;
    if (typeof here !== 'object' || Array.isArray(here) || !Object.hasOwn(here, name)) return undefined;
    here = here[name];
  }
  return here;
}

/** Finds a value like `valueAt`, as written in the text. */
export function writtenAt(root: Written, path: string): Written | undefined {
  let here: Written | undefined = root;
  for (const name of namesOf(path)) {
    if (here?.kind !== 'object') return undefined;
    here = here.members.find((member) => member.name === name)?.value;
  }
  return here;
}
