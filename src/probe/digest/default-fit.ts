import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../../verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../verifier/reading/default-contract.ts';
import { isObject } from '../sample/sample.ts';

/** Sections that only a package shows. */
const OF_A_PACKAGE: readonly (keyof Description)[] = ['generate', 'downloads', 'package', 'summary'];

/** The name, and what other services show, which are not asked. */
const NOT_LOOKED_AT: readonly (keyof Description)[] = ['name', 'supplements'];

/** Settings that change no contract: the page size, and the status to wait for. */
const INDIFFERENT = ['size', 'pending'];

/**
 * The default contract under the name of the one that was found, when everything that was found is as it says. What was
 * not seen contradicts nothing. Null when it is another contract.
 */
export function likeDefault(found: Description, sawPackage: boolean): Description | null {
  const sections = Object.keys(DEFAULT_DESCRIPTION) as (keyof Description)[];
  const seen = sections.filter((name) => !NOT_LOOKED_AT.includes(name) && (sawPackage || !OF_A_PACKAGE.includes(name)));
  const fits = seen.every((name) => isWithin(found[name] as Json, DEFAULT_DESCRIPTION[name] as Json));
  // Digests that nobody can compute are not those of the default contract.
  if (!fits || found.digest.recipe === null || found.entries === null) return null;
  return { ...DEFAULT_DESCRIPTION, name: found.name };
}

function isWithin(found: Json, standard: Json): boolean {
  if (found === null) return true;
  if (Array.isArray(found) && Array.isArray(standard))
    return found.length === standard.length && found.every((item, index) => isWithin(item, standard[index] ?? null));
  if (!isObject(found) || !isObject(standard)) return found === standard;
  return Object.entries(found).every(
    ([name, value]) =>
      INDIFFERENT.includes(name) || (Object.hasOwn(standard, name) && isWithin(value, standard[name] ?? null)),
  );
}
