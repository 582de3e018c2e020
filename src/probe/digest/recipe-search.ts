import type { JsonForm, PreimagePart } from '../../verifier/profile/digest-description.ts';
import { compileRecipe } from '../../verifier/recipe/recipe.ts';
import { isNearlyAll } from '../sample/nearly-all.ts';
import {
  Bench,
  type Candidate,
  type Counted,
  type FoundRecipe,
  type RecipeDescription,
  type SearchInput,
  type SearchResult,
  SIMILAR,
} from './recipe-bench.ts';
import { jsonForms, type Material, preimages } from './recipe-candidates.ts';

/**
 * Searches for the recipe that reproduces the digests of the sampled entries. A recipe that misses none ends the
 * search. A recipe that misses a few is accepted only if no other reproduces more, because entries with special content
 * (null, or text outside ASCII) distinguish similar recipes.
 */
export function searchRecipe(input: SearchInput): SearchResult {
  const bench = new Bench(input);
  let tried = 0;
  let best: Counted | null = null;
  let gaveUp = false;
  let last = Number.POSITIVE_INFINITY;
  for (const preimage of preimages(input.material)) {
    gaveUp = tried % 64 === 0 && input.isOver();
    if (gaveUp || tried >= last) break;
    for (const keying of bench.keyings) {
      tried++;
      const recipe = { ...keying, preimage };
      if (!bench.fitsAny(recipe)) continue;
      const counted = bench.bestGenesis(recipe);
      if (!isBetter(counted, best)) continue;
      best = counted;
      if (counted.misses.length === 0 && counted.reproduces > 0)
        return { found: prefer(bench, counted, input.material), tried, gaveUp: false, nearest: null };
      // Later recipes can only be better if they reproduce one of the misses.
      if (isAccepted(counted)) {
        bench.lookFor(counted.misses);
        last = tried + SIMILAR;
      }
    }
  }
  if (best !== null && isAccepted(best))
    return { found: prefer(bench, best, input.material), tried, gaveUp, nearest: null };
  return { found: null, tried, gaveUp, nearest: best === null ? null : bench.inWords(best) };
}

function isAccepted({ reproduces, misses }: Counted): boolean {
  return reproduces > 0 && isNearlyAll(reproduces, reproduces + misses.length);
}

function isBetter(one: Counted, other: Counted | null): boolean {
  if (other === null || isAccepted(one) !== isAccepted(other)) return other === null || isAccepted(one);
  return one.reproduces > other.reproduces;
}

/** Selects the most likely of the JSON forms that reproduce the samples equally. */
function prefer(bench: Bench, { digest: found, reproduces: most }: Counted, { isPython }: Material): FoundRecipe {
  const alike = jsonForms(isPython).flatMap((form): Candidate[] => {
    const changed = found.recipe === null ? null : withForm(found.recipe, form);
    if (changed === null) return [];
    const candidate = { ...found, recipe: changed };
    return bench.count(candidate).reproduces >= most ? [candidate] : [];
  });
  const [best = found, ...others] = alike;
  const wordsOf = (candidate: Candidate) => compileRecipe(bench.with(candidate))?.words ?? '';
  const { reproduces, misses, unhashed } = bench.count(best);
  return {
    digest: best,
    words: wordsOf(best),
    reproduces,
    misses,
    alternatives: others.map(wordsOf),
    unhashed: [...unhashed],
  };
}

/** Returns the recipe with another JSON form; null if it contains no JSON. */
function withForm(recipe: RecipeDescription, form: JsonForm): RecipeDescription | null {
  if (!recipe.preimage.some((part) => typeof part === 'object' && 'json' in part)) return null;
  const preimage = recipe.preimage.map((part): PreimagePart => {
    if (typeof part === 'string' || !('json' in part)) return part;
    const { of, without } = part.json;
    const json = { ...form, ...(of === undefined ? {} : { of }), ...(without === undefined ? {} : { without }) };
    return { json };
  });
  return { ...recipe, preimage };
}
