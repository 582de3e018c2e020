import type { KeyObject } from 'node:crypto';
import type { SealKeys } from '../../verifier/model/entry.ts';
import { unhashedWords } from '../../verifier/model/unhashed.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { Algorithm, DigestDescription, KeyChoice } from '../../verifier/profile/digest-description.ts';
import { toHex } from '../../verifier/profile/digest-text.ts';
import { openContract } from '../../verifier/reading/reading.ts';
import { compileRecipe } from '../../verifier/recipe/recipe.ts';
import { type ChainRoles, numberAt } from '../roles/chain.ts';
import { type Sample, scalarAt } from '../sample/sample.ts';
import type { Material } from './recipe-candidates.ts';

export type Candidate = FoundRecipe['digest'];

/**
 * Number of further candidates after one that misses a few entries, because similar candidates are close to each other.
 */
export const SIMILAR = 20_000;

/** Number of entries that a candidate is tried on before it is tried on all. */
const EXAMPLES = 4;

export interface Counted {
  digest: Candidate;
  reproduces: number;
  /** Entries with a known key whose digest the candidate does not reproduce. */
  misses: Sample[];
}

/** Tries candidates on the samples, with the code that later verifies exports. */
export class Bench {
  readonly #input: SearchInput;
  readonly #entries: readonly Sample[];
  /** Entries of which every candidate must first reproduce one. */
  #examples: readonly Sample[];
  readonly keyings: readonly Pick<RecipeDescription, 'algorithm' | 'key'>[];

  constructor(input: SearchInput) {
    this.#input = input;
    this.#entries = input.entries;
    const { sequence, firstSequence, form } = input.roles;
    // First entries of streams are special.
    const later = input.entries.filter(({ value }) => numberAt(value, sequence) > firstSequence);
    this.#examples = spread(later.length > 0 ? later : input.entries, EXAMPLES);
    const bits = 8 * form.bytes;
    const plain = `sha-${bits}` as Algorithm;
    const keyed = `hmac-sha-${bits}` as Algorithm;
    const choices = keyChoices(input.keyField, input.keys);
    this.keyings = [
      { algorithm: plain, key: null },
      ...(input.keys.size === 0 ? [] : choices.map((key) => ({ algorithm: keyed, key }))),
    ];
  }

  with(candidate: Candidate): Description {
    const { description } = this.#input;
    return { ...description, digest: { ...description.digest, ...candidate } };
  }

  lookFor(missed: readonly Sample[]): void {
    this.#examples = spread(missed, EXAMPLES);
  }

  inWords({ digest, reproduces, misses }: Counted): NonNullable<SearchResult['nearest']> {
    return { words: compileRecipe(this.with(digest))?.words ?? '', reproduces, misses };
  }

  fitsAny(recipe: RecipeDescription): boolean {
    const compiled = compileRecipe(this.with({ recipe }));
    if (compiled === null) return false;
    return this.#examples.some((example) => {
      const key = this.#keyOf(example, recipe.key);
      if (recipe.key !== null && key === null) return false;
      try {
        return compiled.digest(example, key) === this.#statedBy(example);
      } catch {
        return false;
      }
    });
  }

  /** Finds the text that the first entry's predecessor is hashed as, if it differs from the sent text. */
  bestGenesis(recipe: RecipeDescription): Counted {
    const candidates: Candidate[] = [
      { recipe },
      ...(recipe.preimage.includes('previous')
        ? GENESIS_TEXTS.map((genesis_hashed_as) => ({ recipe, genesis_hashed_as }))
        : []),
    ];
    const counted = candidates.map((digest) => ({ digest, ...this.count(digest) }));
    return counted.reduce((best, one) => (one.reproduces > best.reproduces ? one : best));
  }

  /** Counts the entries with a known key that the recipe reproduces, read as a contract is read. */
  count(candidate: Candidate): Omit<Counted, 'digest'> & { unhashed: ReadonlySet<string> } {
    const contract = openContract(this.with(candidate));
    const unhashed = new Set<string>();
    // Digest and seal cannot cover themselves.
    const { never } = this.#input.material;
    const misses: Sample[] = [];
    let reproduces = 0;
    for (const sample of this.#entries) {
      const bytes = Buffer.from(sample.text());
      try {
        const entry = contract.readEntry(bytes, membersIn(sample), this.#input.keys);
        if (entry.content.state === 'no-key') continue;
        if (entry.content.state !== 'computed' || entry.content.digest !== entry.digest) {
          misses.push(sample);
          continue;
        }
        reproduces++;
        for (const name of entry.content.unhashed.map(unhashedWords)) if (!never.includes(name)) unhashed.add(name);
      } catch {
        misses.push(sample);
      }
    }
    return { reproduces, misses, unhashed };
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

/** Returns the ways in which the key of a digest or a seal may be named. */
export function keyChoices(keyField: string | null, keys: SealKeys): KeyChoice[] {
  return [...(keyField === null ? [] : [{ field: keyField }]), ...[...keys.keys()].map((id) => ({ id }))];
}

/** Selects samples spread over all entries, so that an altered one cannot stand for all. */
function spread(samples: readonly Sample[], many: number): Sample[] {
  if (samples.length <= many) return [...samples];
  return samples.filter(
    (_, index) => Math.floor((index * many) / samples.length) !== Math.floor(((index - 1) * many) / samples.length),
  );
}

/** Counts the members of all objects in a sample, including duplicates. */
export function membersIn(sample: Sample): number {
  const count = (node: ReturnType<Sample['written']>): number => {
    if (node.kind === 'array') return node.items.reduce((sum, item) => sum + count(item), 0);
    if (node.kind !== 'object') return 0;
    return node.members.reduce((sum, { value }) => sum + 1 + count(value), 0);
  };
  return count(sample.written());
}

export type RecipeDescription = NonNullable<DigestDescription['recipe']>;

export interface SearchInput {
  /** Contract so far, without a recipe. */
  description: Description;
  roles: ChainRoles;
  entries: readonly Sample[];
  keys: SealKeys;
  /** Field with the id of the key. */
  keyField: string | null;
  material: Material;
  /** Reports whether the time for the search is used up. */
  isOver: () => boolean;
}

export interface FoundRecipe {
  digest: Pick<DigestDescription, 'recipe' | 'genesis_hashed_as'>;
  words: string;
  /** Number of entries that the recipe reproduces. */
  reproduces: number;
  /** Entries whose digest it does not reproduce: at most a few of the entries with a known key. */
  misses: Sample[];
  /** Other JSON forms that reproduce the samples too. */
  alternatives: string[];
  /** Descriptions of the members that the digest does not cover. */
  unhashed: string[];
}

/** Texts that may be hashed for the first entry's predecessor, if they differ from the sent text. */
const GENESIS_TEXTS = ['', '0', 'GENESIS', 'genesis', 'null', 'None'];

export interface SearchResult {
  found: FoundRecipe | null;
  tried: number;
  /** True if time ran out before the candidates did. */
  gaveUp: boolean;
  /** Closest recipe if none was found. */
  nearest: { words: string; reproduces: number; misses: Sample[] } | null;
}
