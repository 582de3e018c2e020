import type { SealKeys } from '../../verifier/model/entry.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { Chain, EntriesSurvey } from '../lists/survey.ts';
import type { Hints } from '../openapi.ts';
import type { Reasoning } from '../report.ts';
import { firstEntries, type StreamSample } from '../roles/chain.ts';
import { findEntryId, findKeyField, findSeal, type SealRole } from '../roles/entry.ts';
import { findParties } from '../roles/parties.ts';
import { type EntryRange, placesOf } from '../roles/places.ts';
import { isNearlyAll } from '../sample/nearly-all.ts';
import { isObject, type Sample } from '../sample/sample.ts';
import type { SearchResult } from './recipe-bench.ts';
import { materialOf } from './recipe-candidates.ts';
import { searchRecipe } from './recipe-search.ts';
import { proveSeal } from './seal-proof.ts';

/** Describes the roles of an entry's fields, and the field that may be its seal. */
export function describeEntry(
  { samples }: EntriesSurvey,
  { roles, timestamp, streamId }: Chain,
): { entry: Description['entry']; seal: SealRole | null } {
  const seal = findSeal(samples, roles);
  const { sequence, firstSequence, previous, digest } = roles;
  const roleFields = [sequence, previous, digest, seal?.field, seal?.keyField, streamId, timestamp?.field];
  const taken = roleFields.filter((path) => typeof path === 'string');
  const entry: Description['entry'] = {
    stream_id: streamId,
    sequence,
    first_sequence: firstSequence,
    entry_id: findEntryId(samples, taken),
    timestamp: timestamp?.field ?? null,
    timestamp_unit: timestamp?.unit ?? 'text',
    previous,
    digest,
    ...findParties(samples, taken),
  };
  return { entry, seal };
}

interface DigestInput {
  /** Contract so far, without recipe and seal. */
  draft: Description;
  chain: Chain;
  /** Samples by stream. */
  streams: readonly StreamSample[];
  seal: SealRole | null;
  hints: Hints;
  keys: SealKeys;
  isOver: () => boolean;
}

/** Infers the recipes of digests and seals, as far as they can be proved. */
export function inferDigest(input: DigestInput, reasoning: Reasoning): Pick<Description, 'digest' | 'seal'> {
  const { draft, chain, streams, seal, hints, keys, isOver } = input;
  const samples = streams.flatMap(({ entries }) => entries);
  const { roles } = chain;
  const first = draft.entry.entry_id;
  if (first !== null) reasoning.found('entry id', first, 'different in every entry');
  const { actor, action, resource } = draft.entry;
  if (actor != null && action != null && resource != null)
    reasoning.found('actor, action, resource', [actor, action, resource].flat().join(', '), 'by their names alone');
  const material = materialOf(samples, roles, seal?.field ?? null, hints.isPython, hints.entryFields);
  const keyField = seal?.keyField ?? findKeyField(samples);
  const result = searchRecipe({ description: draft, roles, entries: samples, keys, keyField, material, isOver });
  reportRecipe(result, input, samples, reasoning);
  const digest = { ...draft.digest, ...(result.found?.digest ?? {}) };
  warnOfFirst(input, reasoning);
  return { digest, seal: inferSeal({ ...input, draft: { ...draft, digest } }, result, reasoning) };
}

function reportRecipe(
  { found, tried, gaveUp, nearest }: SearchResult,
  { streams, chain, keys }: DigestInput,
  samples: readonly Sample[],
  reasoning: Reasoning,
): void {
  const placesIn = (some: readonly Sample[]) => placesOf(some, streams, chain.roles.sequence);
  if (found !== null) {
    const { misses, unhashed } = found;
    const of = found.reproduces + misses.length;
    const unkeyed = samples.length - of;
    const others = unkeyed === 0 ? '' : `; the key of ${unkeyed} others was not given`;
    reasoning.found('recipe', found.words, `reproduces ${found.reproduces} of ${of} sampled digests${others}`);
    reportMisses(misses, gaveUp, placesIn(misses), reasoning);
    reportSeldom(unhashed, samples, placesIn, reasoning);
    for (const alternative of found.alternatives)
      reasoning.found('another recipe', alternative, `would reproduce them too: ${TELL_APART}`);
    if (unhashed.length > 0)
      reasoning.lacks(
        'coverage',
        `digests are made without ${unhashed.join(', ')}`,
        'these members could be changed unnoticed',
      );
    return;
  }
  const almost =
    nearest === null
      ? ''
      : `; ${nearest.words} reproduces ${nearest.reproduces} of ${nearest.reproduces + nearest.misses.length}, so the others were changed, or are made differently`;
  const keyed = keys.size === 0 ? '; if they are HMACs, give --seal-key ID=FILE' : '';
  const ended = gaveUp ? 'until the time ran out (--search-seconds allows more)' : 'all that are known';
  reasoning.lacks(
    'recipe',
    `no ${keys.size === 0 ? 'unkeyed ' : ''}recipe reproduces the digests: ${tried.toLocaleString('en')} were tried, ${ended}${almost}${keyed}`,
    'content: unproved, because nobody can compute the digests; ask the vendor how they are made',
  );
  if (nearest !== null && nearest.reproduces > 1)
    reasoning.doubts('recipe', `not reproduced by ${nearest.words}`, nearest.misses.length, placesIn(nearest.misses));
}

function reportMisses(misses: readonly Sample[], gaveUp: boolean, places: EntryRange[], reasoning: Reasoning): void {
  const says = 'the recipe does not produce this digest';
  if (gaveUp)
    reasoning.doubts(
      'recipe',
      `${says}; the time ran out before all other recipes were tried (--search-seconds allows more)`,
      misses.length,
      places,
    );
  else
    reasoning.refutes(
      'recipe',
      `${says}: the entry was altered, or the service made its digest differently`,
      misses.length,
      places,
    );
}

/** Reports members of only a few entries that no digest covers: they may have been added to these entries. */
function reportSeldom(
  unhashed: readonly string[],
  samples: readonly Sample[],
  placesIn: (samples: readonly Sample[]) => EntryRange[],
  reasoning: Reasoning,
): void {
  for (const name of unhashed) {
    const having = samples.filter(({ value }) => isObject(value) && Object.hasOwn(value, name));
    if (having.length > 0 && isNearlyAll(samples.length - having.length, samples.length))
      reasoning.doubts(
        'coverage',
        `only these have the member ${name}, and their digests are made without it: it may have been added`,
        having.length,
        placesIn(having),
      );
  }
}

const TELL_APART = 'entries with non-ASCII text or floating-point numbers tell them apart';

function warnOfFirst({ streams, chain: { roles } }: DigestInput, reasoning: Reasoning): void {
  if (firstEntries(streams, roles).length === 0)
    reasoning.lacks('first entry', 'none was sampled', 'the recipe is not proved for the first entry of a stream');
}

function inferSeal(
  { draft, streams, chain, seal, keys }: DigestInput,
  { found }: SearchResult,
  reasoning: Reasoning,
): Description['seal'] {
  if (seal === null) {
    const isKeyed = found?.digest.recipe?.key !== null && found !== null;
    const why = isKeyed
      ? 'the digests themselves are made with a key'
      : 'no entry field has the form and the name of a seal';
    reasoning.lacks('seal', why, 'seal: unproved');
    return null;
  }
  const samples = streams.flatMap(({ entries }) => entries);
  const { seal: described, proved, of, misses } = proveSeal(draft, seal, samples, keys);
  if (described === null) {
    reasoning.lacks(
      'seal',
      `${seal.field} may be a seal, but no field names its key and no given key makes it`,
      'seal: unproved',
    );
    return null;
  }
  const over = described.over === 'digest-text' ? "the digest's text" : "the digest's bytes";
  const places = placesOf(misses, streams, chain.roles.sequence);
  if (proved > 0 && isNearlyAll(proved, of)) {
    reasoning.found(
      'seal',
      described.field,
      `${described.algorithm} over ${over}: the given keys make ${proved} of ${of}`,
    );
    reasoning.refutes('seal', 'its key does not produce this seal', misses.length, places);
  } else {
    const why = of === 0 ? 'none of its keys was given' : `the given keys make ${proved} of ${of}`;
    reasoning.found('seal', described.field, `taken for ${described.algorithm} by its length; unproved, ${why}`);
    reasoning.doubts('seal', 'no known method makes these seals with the given keys', misses.length, places);
  }
  return described;
}
