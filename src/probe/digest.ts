import type { SealKeys } from '../contract/contract.ts';
import type { Description } from '../contract/description.ts';
import { numberAt } from './chain-roles.ts';
import type { Chain, EntriesSurvey } from './entries.ts';
import { findEntryId, findKeyField, findSeal, type SealRole } from './entry-roles.ts';
import type { Hints } from './openapi.ts';
import { materialOf } from './recipe-candidates.ts';
import { type SearchResult, searchRecipe } from './recipe-search.ts';
import type { Reasoning } from './report.ts';
import type { Sample } from './sample.ts';
import { proveSeal } from './seal-proof.ts';

/** The roles of an entry, and what may be its seal. */
export function describeEntry(
  { samples }: EntriesSurvey,
  { roles, timestamp, streamId }: Chain,
): { entry: Description['entry']; seal: SealRole | null } {
  const seal = findSeal(samples, roles);
  const { sequence, firstSequence, previous, digest } = roles;
  const taken = [sequence, previous, digest, seal?.field, seal?.keyField, streamId, timestamp?.field];
  const entry: Description['entry'] = {
    stream_id: streamId,
    sequence,
    first_sequence: firstSequence,
    entry_id: findEntryId(
      samples,
      taken.filter((path) => typeof path === 'string'),
    ),
    timestamp: timestamp?.field ?? null,
    timestamp_unit: timestamp?.unit ?? 'text',
    previous,
    digest,
  };
  return { entry, seal };
}

interface DigestInput {
  /** The contract so far, without recipe and seal. */
  draft: Description;
  chain: Chain;
  samples: readonly Sample[];
  seal: SealRole | null;
  hints: Hints;
  keys: SealKeys;
  isOver: () => boolean;
}

/** How digests and seals are made, as far as that can be proved. */
export function inferDigest(input: DigestInput, reasoning: Reasoning): Pick<Description, 'digest' | 'seal'> {
  const { draft, chain, samples, seal, hints, keys, isOver } = input;
  const { roles } = chain;
  const first = draft.entry.entry_id;
  if (first !== null) reasoning.found('entry id', first, 'another one in every entry');
  const material = materialOf(samples, roles, seal?.field ?? null, hints.isPython, hints.entryFields);
  const keyField = seal?.keyField ?? findKeyField(samples);
  const result = searchRecipe({ description: draft, roles, entries: samples, keys, keyField, material, isOver });
  reportRecipe(result, samples.length, keys, reasoning);
  const digest = { ...draft.digest, ...(result.found?.digest ?? {}) };
  warnOfFirst(input, reasoning);
  return { digest, seal: inferSeal({ ...input, draft: { ...draft, digest } }, result, reasoning) };
}

function reportRecipe(
  { found, tried, gaveUp, nearest }: SearchResult,
  samples: number,
  keys: SealKeys,
  reasoning: Reasoning,
): void {
  if (found !== null) {
    const unkeyed = samples - found.reproduces;
    const others = unkeyed === 0 ? '' : `; the key of ${unkeyed} others was not given`;
    reasoning.found(
      'recipe',
      found.words,
      `reproduces ${found.reproduces} of ${found.reproduces} sampled digests${others}`,
    );
    for (const rival of found.rivals)
      reasoning.found('another recipe', rival, `would reproduce them too: ${TELL_APART}`);
    if (found.uncovered.length > 0)
      reasoning.lacks(
        'coverage',
        `digests are made without ${found.uncovered.join(', ')}`,
        'what stands there could be changed unseen, as the service has it',
      );
    return;
  }
  const almost =
    nearest === null
      ? ''
      : `; ${nearest.words} reproduces ${nearest.reproduces} of ${nearest.of}, so the others may have been changed`;
  const keyed = keys.size === 0 ? '; if they are HMACs, give --seal-key ID=FILE' : '';
  const ended = gaveUp ? 'when the time was over' : 'which are all that are known';
  reasoning.lacks(
    'recipe',
    `no ${keys.size === 0 ? 'unkeyed ' : ''}recipe reproduces the digests: ${tried.toLocaleString('en')} were tried, ${ended}${almost}${keyed}`,
    'content: unproved, because nobody can compute the digests; ask the vendor how they are made',
  );
}

const TELL_APART = 'entries with text outside of ASCII or with floating-point numbers tell them apart';

function warnOfFirst({ samples, chain: { roles } }: DigestInput, reasoning: Reasoning): void {
  const isFirst = ({ value }: Sample) => numberAt(value, roles.sequence) === roles.firstSequence;
  if (!samples.some(isFirst))
    reasoning.lacks(
      'first entry',
      'none was sampled',
      'whether the recipe holds for the first entry of a stream is not known',
    );
}

function inferSeal(
  { draft, samples, seal, keys }: DigestInput,
  { found }: SearchResult,
  reasoning: Reasoning,
): Description['seal'] {
  if (seal === null) {
    const isKeyed = found?.digest.recipe?.key !== null && found !== null;
    const why = isKeyed
      ? 'the digests themselves are made with a key'
      : 'no field of the entries has the form and the name of one';
    reasoning.lacks('seal', why, 'seal: unproved');
    return null;
  }
  const { seal: described, proved, of } = proveSeal(draft, seal, samples, keys);
  if (described === null) {
    reasoning.lacks(
      'seal',
      `${seal.field} may be one, but no field names its key and no given key makes it`,
      'seal: unproved',
    );
    return null;
  }
  const over = described.over === 'digest-text' ? "the digest's text" : "the digest's bytes";
  if (of > 0 && proved === of)
    reasoning.found(
      'seal',
      described.field,
      `${described.algorithm} over ${over}: the given keys make ${proved} of ${of}`,
    );
  else {
    const why = of === 0 ? 'no key of it was given' : `the given keys make ${proved} of ${of}`;
    reasoning.found('seal', described.field, `taken for ${described.algorithm} by its length; unproved, ${why}`);
  }
  return described;
}
