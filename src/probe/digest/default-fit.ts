import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../../verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../verifier/reading/default-contract.ts';
import { isObject } from '../sample/sample.ts';

/** Sections that only a package shows. */
const OF_A_PACKAGE: readonly (keyof Description)[] = ['generate', 'downloads', 'package', 'summary'];

/** Sections that are not compared: the name, and the services of supplements, which a probe does not query. */
const NOT_LOOKED_AT: readonly (keyof Description)[] = ['name', 'supplements'];

/** Settings that do not make a contract different: the page size, and the status to wait for. */
const INDIFFERENT = ['size', 'pending'];

/**
 * Returns the default contract under the found contract's name if everything that was found agrees with it. Sections
 * that were not seen cannot disagree. Returns null for another contract.
 */
export function likeDefault(found: Description, sawPackage: boolean): Description | null {
  const sections = Object.keys(DEFAULT_DESCRIPTION) as (keyof Description)[];
  const seen = sections.filter((name) => !NOT_LOOKED_AT.includes(name) && (sawPackage || !OF_A_PACKAGE.includes(name)));
  const fits = seen.every((name) => isWithin(found[name] as Json, DEFAULT_DESCRIPTION[name] as Json));
  // A service without a known recipe does not use the default contract.
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
