import type { DigestDescription } from '../../verifier/profile/digest-description.ts';
import { toHex } from '../../verifier/profile/digest-text.ts';
import { byName, lastName, preferByName } from '../sample/names.ts';
import { isNearlyAll, isNearlyAllPairs } from '../sample/nearly-all.ts';
import { commonPaths, type DigestForm, digestFormOf, type Sample, scalarAt, wholeNumber } from '../sample/sample.ts';

/** Entries of one stream, as many as were read. */
export interface StreamSample {
  streamId: string;
  entries: Sample[];
  /** True if these are all entries of the stream. */
  isWhole: boolean;
}

export interface ChainRoles {
  sequence: string;
  firstSequence: 0 | 1;
  /** JSON type of sequence numbers. */
  numbers: 'number' | 'text';
  previous: string;
  digest: string;
  form: DigestForm;
  /** Number of linked pairs of neighbors. */
  links: number;
  /** Entries that do not contain the digest of the entry before them. */
  broken: Sample[];
}

const SEQUENCE_NAMES = [/seq/, /^(position|index|number|height|version|offset|ordinal|n|no)$/, /number|position|index/];
const DIGEST_NAMES = [/hash|digest|checksum/, /mac/];

/** Returns the fields that count up by one within nearly every stream, the most likely first. */
function sequenceFields(streams: readonly StreamSample[]): string[] {
  const entries = streams.flatMap((stream) => stream.entries);
  const pairs = entries.length - streams.length;
  const counting = commonPaths(entries)
    .map((path) => ({ path, misses: streams.flatMap((stream) => miscounted(stream.entries, path)).length }))
    .filter(({ misses }) => isNearlyAllPairs(pairs - misses, pairs))
    .toSorted((a, b) => a.misses - b.misses)
    .map(({ path }) => path);
  // A number that continues from one stream to the next is an id, not a sequence number.
  const whole = streams.filter(({ isWhole, entries: own }) => isWhole && own.length > 0);
  const begun = counting.map((path) => whole.filter((stream) => least(stream.entries, path) <= 1).length);
  const likely = counting.filter((_, index) => begun[index] === Math.max(...begun));
  const best = preferByName(likely, SEQUENCE_NAMES);
  return best === undefined ? [] : [best, ...likely.filter((path) => path !== best)];
}

/** Returns the entries whose number is not one more than that of the entry before. */
export function miscounted(entries: readonly Sample[], path: string): Sample[] {
  const sorted = inSequence(entries, path);
  return sorted.filter(
    ({ value }, index) => index > 0 && numberAt(value, path) !== numberAt(sorted[index - 1]?.value ?? null, path) + 1,
  );
}

function least(entries: readonly Sample[], path: string): number {
  return Math.min(...entries.map(({ value }) => numberAt(value, path)).filter((number) => !Number.isNaN(number)));
}

export function numberAt(value: Sample['value'], path: string): number {
  return wholeNumber(scalarAt(value, path)) ?? Number.NaN;
}

/** Sorts entries by number; entries without one come last. */
export function inSequence(entries: readonly Sample[], sequence: string): Sample[] {
  const rank = ({ value }: Sample) => wholeNumber(scalarAt(value, sequence)) ?? Number.MAX_VALUE;
  return entries.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Finds the pairs of fields (a, b) such that nearly every entry's `a` equals its predecessor's `b`, and `b` is a
 * digest; the most likely pair first.
 */
export function findChains(streams: readonly StreamSample[]): ChainRoles[] {
  const entries = streams.flatMap((stream) => stream.entries);
  const digests = commonPaths(entries).flatMap((path) => {
    const values = entries.map(({ value }) => scalarAt(value, path) ?? null);
    const form = digestFormOf(values);
    return form === null || !isNearlyAll(new Set(values).size, values.length) ? [] : [{ path, form }];
  });
  const counting = sequenceFields(streams);
  for (const counted of counting) {
    const neighbours = streams.flatMap((stream) => neighboursOf(stream.entries, counted));
    if (neighbours.length === 0) continue;
    const chains = digests.flatMap(({ path: digest, form }) =>
      fieldsOfAny(neighbours).flatMap((previous): ChainRoles[] => {
        const isLinked = ([one, next]: readonly [Sample, Sample]) =>
          scalarAt(next.value, previous) === scalarAt(one.value, digest);
        const broken = neighbours.filter((pair) => !isLinked(pair)).map(([, next]) => next);
        const links = neighbours.length - broken.length;
        if (!isNearlyAllPairs(links, neighbours.length) || previous === digest) return [];
        const sequence = besideOf(digest, counted, counting);
        const firstSequence = firstOf(streams, sequence, isLinked);
        const texts = entries.filter(({ value }) => typeof scalarAt(value, sequence) === 'string').length;
        const numbers = 2 * texts > entries.length ? 'text' : 'number';
        return [{ sequence, firstSequence, numbers, previous, digest, form, links, broken }];
      }),
    );
    if (chains.length > 0) return likeliestFirst(chains);
  }
  return [];
}

/** Selects, among fields that count alike, the one next to the digest: recorded content may be numbered too. */
function besideOf(digest: string, counted: string, counting: readonly string[]): string {
  const parentOf = (path: string) => path.slice(0, path.length - lastName(path).length);
  const isBeside = (path: string) => parentOf(path) === parentOf(digest);
  return isBeside(counted) ? counted : (counting.find(isBeside) ?? counted);
}

function likeliestFirst(chains: readonly ChainRoles[]): ChainRoles[] {
  const best = byName(
    chains.map(({ digest }) => digest),
    DIGEST_NAMES,
  );
  return chains.toSorted((a, b) => Number(b.digest === best) - Number(a.digest === best) || b.links - a.links);
}

/** Returns the fields that may link entries, without first entries, which may lack the field. */
function fieldsOfAny(neighbours: readonly (readonly [Sample, Sample])[]): string[] {
  return commonPaths(neighbours.map(([, next]) => next));
}

/** Returns pairs of entries with consecutive numbers: entries on the two sides of a gap are not linked. */
function neighboursOf(entries: readonly Sample[], sequence: string): [Sample, Sample][] {
  const sorted = inSequence(entries, sequence);
  return sorted.slice(1).flatMap((next, index) => {
    const one = sorted[index];
    return one === undefined || numberAt(next.value, sequence) !== numberAt(one.value, sequence) + 1
      ? []
      : [[one, next] as [Sample, Sample]];
  });
}

/** Returns 0 if most streams have an entry with that number, either alone or linked to the next one; otherwise 1. */
function firstOf(
  streams: readonly StreamSample[],
  sequence: string,
  isLinked: (pair: readonly [Sample, Sample]) => boolean,
): 0 | 1 {
  const begins = streams.map(({ entries }) => {
    const numbered = (wanted: number) => entries.find(({ value }) => numberAt(value, sequence) === wanted);
    const [zero, one] = [numbered(0), numbered(1)];
    if (zero !== undefined && (one === undefined ? entries.length === 1 : isLinked([zero, one]))) return 0;
    return one === undefined ? null : 1;
  });
  const count = (first: 0 | 1) => begins.filter((one) => one === first).length;
  return count(0) > count(1) ? 0 : 1;
}

/** Explains why no pair was found, by the best one: `holds` of `of` neighbors. */
export function nearestLink(streams: readonly StreamSample[]): { holds: number; of: number } | null {
  const [sequence] = sequenceFields(streams);
  if (sequence === undefined) return null;
  const entries = streams.flatMap((stream) => stream.entries);
  const neighbours = streams.flatMap((stream) => neighboursOf(stream.entries, sequence));
  const paths = commonPaths(entries).filter((path) =>
    digestFormOf(entries.slice(-1).map(({ value }) => scalarAt(value, path) ?? null)),
  );
  const counts = paths.flatMap((digest) =>
    paths
      .filter((previous) => previous !== digest)
      .map(
        (previous) =>
          neighbours.filter(([one, next]) => scalarAt(next.value, previous) === scalarAt(one.value, digest)).length,
      ),
  );
  return neighbours.length === 0 ? null : { holds: Math.max(0, ...counts), of: neighbours.length };
}

/** Returns the genesis value of most first entries; null if none was seen or no value prevails. */
export function genesisOf(streams: readonly StreamSample[], roles: ChainRoles): DigestDescription['genesis'] | null {
  const forms = firstEntries(streams, roles).flatMap((entry) => genesisOfEntry(entry, roles) ?? []);
  const [most, second] = [...Map.groupBy(forms, (form) => JSON.stringify(form)).values()].toSorted(
    (a, b) => b.length - a.length,
  );
  return most === undefined || most.length === second?.length ? null : (most[0] ?? null);
}

/** Returns the genesis value of a first entry; null if it is the digest of an entry, which no stream begins with. */
export function genesisOfEntry({ value }: Sample, { previous, form }: ChainRoles): DigestDescription['genesis'] | null {
  const sent = scalarAt(value, previous);
  if (sent === undefined) return 'absent';
  if (sent === null) return 'null';
  if (sent === '') return 'empty';
  if (typeof sent !== 'string') return null;
  const hex = sent.startsWith(form.prefix) ? toHex(sent.slice(form.prefix.length), form.encoding) : null;
  if (hex !== null && hex.length === 2 * form.bytes) return /^0+$/.test(hex) ? 'zeros' : null;
  return { text: sent };
}

export function firstEntries(streams: readonly StreamSample[], { sequence, firstSequence }: ChainRoles): Sample[] {
  return streams.flatMap(({ entries }) => entries.filter(({ value }) => numberAt(value, sequence) === firstSequence));
}
