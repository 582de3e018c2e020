import type { Json } from '../encoding/canonical.ts';

/** The names of a path of a contract file; none for the empty path, which is the value itself. */
export function namesOf(path: string): string[] {
  return path === '' ? [] : path.split('.');
}

/** The value at a path: undefined when it is absent, null also when something on the way to it is null. */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  let here = value;
  for (const name of namesOf(path)) {
    if (here === null || here === undefined) return here;
    if (typeof here !== 'object' || Array.isArray(here) || !Object.hasOwn(here, name)) return undefined;
    here = here[name];
  }
  return here;
}
