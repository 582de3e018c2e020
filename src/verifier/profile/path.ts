import type { Json } from '../../core/json/canonical.ts';
import type { Written } from '../../core/json/source-text.ts';

/** The names of a path of a contract file; none for the empty path, which is the value itself. */
export function namesOf(path: string): string[] {
  return path === '' ? [] : path.split('.');
}

const SPLIT = new Map<string, readonly string[]>();

/** As `namesOf`, of the few paths that are asked for with every entry. */
function splitOnce(path: string): readonly string[] {
  let names = SPLIT.get(path);
  if (names === undefined) {
    names = namesOf(path);
    if (SPLIT.size < 1000) SPLIT.set(path, names);
  }
  return names;
}

/** The value at a path: undefined when it is absent, null also when something on the way to it is null. */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  let here = value;
  for (const name of splitOnce(path)) {
    if (here === null || here === undefined) return here;
    if (typeof here !== 'object' || Array.isArray(here) || !Object.hasOwn(here, name)) return undefined;
    here = here[name];
  }
  return here;
}

/** As `valueAt`, of a value as it was written. */
export function writtenAt(root: Written, path: string): Written | undefined {
  let here: Written | undefined = root;
  for (const name of namesOf(path)) {
    if (here?.kind !== 'object') return undefined;
    here = here.members.find((member) => member.name === name)?.value;
  }
  return here;
}
