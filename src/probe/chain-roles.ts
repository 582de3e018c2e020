import type { DigestDescription } from '../contract/description.ts';
import { toHex } from '../contract/digest-text.ts';
import { byName, lastName, preferByName } from './names.ts';
import { commonPaths, type DigestForm, digestFormOf, type Sample, scalarAt, wholeNumber } from './sample.ts';

/** Entries of one stream, as many as were read. */
export interface StreamSample {
  streamId: string;
  entries: Sample[];
  /** Whether these are all that it has. */
  isWhole: boolean;
}

export interface ChainRoles {
  sequence: string;
  firstSequence: 0 | 1;
  /** How sequence numbers are sent. */
  numbers: 'number' | 'text';
  previous: string;
  digest: string;
  form: DigestForm;
  /** Pairs of neighbours, all of which are linked. */
  links: number;
}

const SEQUENCE_NAMES = [/seq/, /^(position|index|number|height|version|offset|ordinal|n|no)$/, /number|position|index/];
const DIGEST_NAMES = [/hash|digest|checksum/, /mac/];

/** The fields whose numbers go up one by one within every stream, the likeliest first. */
export function sequenceFields(streams: readonly StreamSample[]): string[] {
  const entries = streams.flatMap((stream) => stream.entries);
  const counting = commonPaths(entries).filter((path) => streams.every((stream) => isCounting(stream.entries, path)));
  // What goes on from one stream to the next is an id, not a place in its stream.
  const perStream = counting.filter((path) => {
    const firsts = streams.filter(({ isWhole, entries }) => isWhole && entries.length > 0);
    return firsts.every((stream) => least(stream.entries, path) <= 1);
  });
  const likely = perStream.length > 0 ? perStream : counting;
  const best = preferByName(likely, SEQUENCE_NAMES);
  return best === undefined ? [] : [best, ...likely.filter((path) => path !== best)];
}

function isCounting(entries: readonly Sample[], path: string): boolean {
  const numbers = entries.map(({ value }) => wholeNumber(scalarAt(value, path)));
  if (numbers.some((number) => number === null)) return false;
  const sorted = numbers.map(Number).toSorted((a, b) => a - b);
  return sorted.every((number, index) => index === 0 || number === (sorted[index - 1] ?? 0) + 1);
}

function least(entries: readonly Sample[], path: string): number {
  return Math.min(...entries.map(({ value }) => numberAt(value, path)));
}

export function numberAt(value: Sample['value'], path: string): number {
  return wholeNumber(scalarAt(value, path)) ?? Number.NaN;
}

export function inSequence(entries: readonly Sample[], sequence: string): Sample[] {
  return entries.toSorted((a, b) => numberAt(a.value, sequence) - numberAt(b.value, sequence));
}

/**
 * The pairs of fields (a, b) for which every entry's `a` is its predecessor's `b`, where `b` is a digest; the likeliest
 * first. The pair has to hold without exception: by chance it can hold here and there.
 */
export function findChains(streams: readonly StreamSample[]): ChainRoles[] {
  const entries = streams.flatMap((stream) => stream.entries);
  const paths = commonPaths(entries);
  const digests = paths.flatMap((path) => {
    const values = entries.map(({ value }) => scalarAt(value, path) ?? null);
    const form = digestFormOf(values);
    return form === null || new Set(values).size < values.length ? [] : [{ path, form }];
  });
  const counting = sequenceFields(streams);
  for (const counted of counting) {
    const neighbours = streams.flatMap((stream) => neighboursOf(inSequence(stream.entries, counted)));
    if (neighbours.length === 0) continue;
    const chains = digests.flatMap(({ path: digest, form }) =>
      fieldsOfAny(neighbours).flatMap((previous): ChainRoles[] => {
        const isLink = neighbours.every(
          ([one, next]) => scalarAt(next.value, previous) === scalarAt(one.value, digest),
        );
        if (!isLink || previous === digest) return [];
        const sequence = besideOf(digest, counted, counting);
        const firstSequence = firstOf(streams, sequence);
        const numbers = entries.some(({ value }) => typeof scalarAt(value, sequence) === 'string') ? 'text' : 'number';
        return [{ sequence, firstSequence, numbers, previous, digest, form, links: neighbours.length }];
      }),
    );
    if (chains.length > 0) return likeliestFirst(chains);
  }
  return [];
}

/** Of fields that count alike, the one that stands beside the digest: what was recorded may be numbered too. */
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
  return chains.toSorted((a, b) => Number(b.digest === best) - Number(a.digest === best));
}

/** The first entry of a stream may lack the field that names its predecessor. */
function fieldsOfAny(neighbours: readonly (readonly [Sample, Sample])[]): string[] {
  return commonPaths(neighbours.map(([, next]) => next));
}

function neighboursOf(entries: readonly Sample[]): [Sample, Sample][] {
  return entries.slice(1).flatMap((next, index) => {
    const one = entries[index];
    return one === undefined ? [] : [[one, next] as [Sample, Sample]];
  });
}

function firstOf(streams: readonly StreamSample[], sequence: string): 0 | 1 {
  const lowest = Math.min(...streams.map(({ entries }) => least(entries, sequence)));
  return lowest === 0 ? 0 : 1;
}

/** How the best pair falls short, for somebody who asks why none was found: `holds` of `of` neighbours. */
export function nearestLink(streams: readonly StreamSample[]): { holds: number; of: number } | null {
  const [sequence] = sequenceFields(streams);
  if (sequence === undefined) return null;
  const entries = streams.flatMap((stream) => stream.entries);
  const neighbours = streams.flatMap((stream) => neighboursOf(inSequence(stream.entries, sequence)));
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

/** What the first entries of streams say of their predecessor; null when none was seen or they do not say the same. */
export function genesisOf(streams: readonly StreamSample[], roles: ChainRoles): DigestDescription['genesis'] | null {
  const said = new Set(firstEntries(streams, roles).map(({ value }) => scalarAt(value, roles.previous)));
  const [sent] = said;
  if (said.size !== 1) return null;
  if (sent === undefined) return 'absent';
  if (sent === null) return 'null';
  if (sent === '') return 'empty';
  if (typeof sent !== 'string') return null;
  const hex = sent.startsWith(roles.form.prefix)
    ? toHex(sent.slice(roles.form.prefix.length), roles.form.encoding)
    : null;
  if (hex !== null && hex.length === 2 * roles.form.bytes) return /^0+$/.test(hex) ? 'zeros' : null;
  return { text: sent };
}

export function firstEntries(streams: readonly StreamSample[], { sequence, firstSequence }: ChainRoles): Sample[] {
  return streams.flatMap(({ entries }) => entries.filter(({ value }) => numberAt(value, sequence) === firstSequence));
}
