import type { KeyObject } from 'node:crypto';
import type { SealKeys } from '../contract/contract.ts';
import type { Algorithm, Description, DigestDescription, JsonForm, KeyChoice, Part } from '../contract/description.ts';
import { toHex } from '../contract/digest-text.ts';
import { openContract } from '../contract/reading.ts';
import { compileRecipe } from '../contract/recipe.ts';
import type { ChainRoles } from './chain-roles.ts';
import { numberAt } from './chain-roles.ts';
import { jsonForms, type Material, preimages } from './recipe-candidates.ts';
import { type Sample, scalarAt } from './sample.ts';

type RecipeDescription = NonNullable<DigestDescription['recipe']>;

export interface SearchInput {
  /** The contract so far, without a recipe. */
  description: Description;
  roles: ChainRoles;
  entries: readonly Sample[];
  keys: SealKeys;
  /** The field that names the key. */
  keyField: string | null;
  material: Material;
  /** Whether the time for the search is used up. */
  isOver: () => boolean;
}

export interface FoundRecipe {
  digest: Pick<DigestDescription, 'recipe' | 'genesis_hashed_as'>;
  words: string;
  /** How many entries it reproduces: all that were sampled and whose key is known. */
  reproduces: number;
  /** Other ways of writing JSON that reproduce the samples too. */
  rivals: string[];
  /** Members of entries that the digest says nothing about. */
  uncovered: string[];
}

export interface SearchResult {
  found: FoundRecipe | null;
  tried: number;
  /** Whether candidates were left when the time was over. */
  gaveUp: boolean;
  /** The recipe that came closest without reproducing all, which is none. */
  nearest: { words: string; reproduces: number; of: number } | null;
}

type Candidate = FoundRecipe['digest'];

/** What the first entry's predecessor may be hashed as, when that is not what is sent. */
const GENESIS_TEXTS = ['', '0', 'GENESIS', 'genesis', 'null', 'None'];

/** Looks for a recipe that reproduces the digest of every sampled entry; one that misses a single one is none. */
export function searchRecipe(input: SearchInput): SearchResult {
  const bench = new Bench(input);
  let tried = 0;
  let nearest: SearchResult['nearest'] = null;
  for (const preimage of preimages(input.material)) {
    if (tried % 64 === 0 && input.isOver()) return { found: null, tried, gaveUp: true, nearest };
    for (const keying of bench.keyings) {
      tried++;
      const recipe = { ...keying, preimage };
      if (!bench.fitsOne(recipe)) continue;
      const { digest, reproduces, of } = bench.bestGenesis(recipe);
      const words = compileRecipe(bench.with(digest))?.words ?? '';
      if (reproduces === of)
        return { found: prefer(bench, { ...digest, recipe }, input.material), tried, gaveUp: false, nearest };
      if (reproduces > (nearest?.reproduces ?? 0)) nearest = { words, reproduces, of };
    }
  }
  return { found: null, tried, gaveUp: false, nearest };
}

/** Tries candidates on the samples, with the code that verifies later. */
class Bench {
  readonly #input: SearchInput;
  readonly #entries: readonly Sample[];
  /** The entry that every candidate has to fit first: not the first of a stream, which is special. */
  readonly #example: Sample | undefined;
  readonly keyings: readonly Pick<RecipeDescription, 'algorithm' | 'key'>[];

  constructor(input: SearchInput) {
    this.#input = input;
    this.#entries = input.entries;
    const { sequence, firstSequence, form } = input.roles;
    this.#example = input.entries.find(({ value }) => numberAt(value, sequence) > firstSequence) ?? input.entries[0];
    const bits = 8 * form.bytes;
    const plain = `sha-${bits}` as Algorithm;
    const keyed = `hmac-sha-${bits}` as Algorithm;
    const choices: KeyChoice[] = [
      ...(input.keyField === null ? [] : [{ field: input.keyField }]),
      ...[...input.keys.keys()].map((id) => ({ id })),
    ];
    this.keyings = [
      { algorithm: plain, key: null },
      ...(input.keys.size === 0 ? [] : choices.map((key) => ({ algorithm: keyed, key }))),
    ];
  }

  with(candidate: Candidate): Description {
    const { description } = this.#input;
    return { ...description, digest: { ...description.digest, ...candidate } };
  }

  fitsOne(recipe: RecipeDescription): boolean {
    const compiled = compileRecipe(this.with({ recipe }));
    if (compiled === null || this.#example === undefined) return false;
    const key = this.#keyOf(this.#example, recipe.key);
    if (recipe.key !== null && key === null) return false;
    try {
      return compiled.digest(this.#example, key) === this.#statedBy(this.#example);
    } catch {
      return false;
    }
  }

  /** With what the first entry's predecessor has to be hashed as, if that is not what is sent. */
  bestGenesis(recipe: RecipeDescription): { digest: Candidate; reproduces: number; of: number } {
    const candidates: Candidate[] = [
      { recipe },
      ...(recipe.preimage.includes('previous')
        ? GENESIS_TEXTS.map((genesis_hashed_as) => ({ recipe, genesis_hashed_as }))
        : []),
    ];
    const counted = candidates.map((digest) => ({ digest, ...this.count(digest) }));
    return counted.reduce((best, one) => (one.reproduces > best.reproduces ? one : best));
  }

  /** How many of the entries whose key is known the recipe reproduces, read as a contract is read. */
  count(candidate: Candidate): { reproduces: number; of: number; uncovered: ReadonlySet<string> } {
    const contract = openContract(this.with(candidate));
    const uncovered = new Set<string>();
    // Digest and seal cannot cover themselves.
    const { never } = this.#input.material;
    let [reproduces, of] = [0, 0];
    for (const sample of this.#entries) {
      const bytes = Buffer.from(sample.text());
      try {
        const entry = contract.readEntry(bytes, membersIn(sample), this.#input.keys);
        if (entry.content.state === 'no-key') continue;
        of++;
        if (entry.content.state !== 'computed' || entry.content.digest !== entry.digest) continue;
        reproduces++;
        for (const name of entry.content.uncovered) if (!never.includes(name)) uncovered.add(name);
      } catch {
        of++;
      }
    }
    // A proof over nothing is none.
    return { reproduces, of: Math.max(of, 1), uncovered };
  }

  #keyOf({ value }: Sample, choice: KeyChoice | null): KeyObject | null {
    if (choice === null) return null;
    const id = 'id' in choice ? choice.id : scalarAt(value, choice.field);
    return this.#input.keys.get(String(id)) ?? null;
  }

  #statedBy({ value }: Sample): string | null {
    const { digest, form } = this.#input.roles;
    const sent = scalarAt(value, digest);
    return typeof sent === 'string' ? toHex(sent.slice(form.prefix.length), form.encoding) : null;
  }
}

/** How many members the objects of a sample have in all, duplicates included. */
export function membersIn(sample: Sample): number {
  const count = (node: ReturnType<Sample['written']>): number => {
    if (node.kind === 'array') return node.items.reduce((sum, item) => sum + count(item), 0);
    if (node.kind !== 'object') return 0;
    return node.members.reduce((sum, { value }) => sum + 1 + count(value), 0);
  };
  return count(sample.written());
}

/** Of the ways of writing JSON that reproduce the samples alike, the likeliest one. */
function prefer(bench: Bench, found: Candidate, { isPython }: Material): FoundRecipe {
  const alike = jsonForms(isPython).flatMap((form): Candidate[] => {
    const changed = found.recipe === null ? null : withForm(found.recipe, form);
    if (changed === null) return [];
    const candidate = { ...found, recipe: changed };
    const { reproduces, of } = bench.count(candidate);
    return reproduces === of ? [candidate] : [];
  });
  const [best = found, ...others] = alike;
  const wordsOf = (candidate: Candidate) => compileRecipe(bench.with(candidate))?.words ?? '';
  const { reproduces, uncovered } = bench.count(best);
  return { digest: best, words: wordsOf(best), reproduces, rivals: others.map(wordsOf), uncovered: [...uncovered] };
}

/** The same recipe with another way of writing JSON; null when it writes none. */
function withForm(recipe: RecipeDescription, form: JsonForm): RecipeDescription | null {
  if (!recipe.preimage.some((part) => typeof part === 'object' && 'json' in part)) return null;
  const preimage = recipe.preimage.map((part): Part => {
    if (typeof part === 'string' || !('json' in part)) return part;
    const { of, without } = part.json;
    const json = { ...form, ...(of === undefined ? {} : { of }), ...(without === undefined ? {} : { without }) };
    return { json };
  });
  return { ...recipe, preimage };
}
