import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../../verifier/profile/description.ts';
import { byName, lastName, nameWords, preferByName } from '../sample/names.ts';
import { allPaths, type Sample, scalarAt } from '../sample/sample.ts';
import { type ChainRoles, inSequence, type StreamSample } from './chain.ts';
import { timeOf } from './entry.ts';

export type StreamRoles = Omit<Description['streams']['fields'], 'stream_id'>;

const COUNT_NAMES = [/count|total|size|length/, /^(entries|events|records|logs)$/];
const IS_COUNT = /count|total|size|length|entries|events|records|logs/;
const HEAD_NAMES = [/^head/, /^(last|latest|tip|current|max)\b/, /seq|position|index/];
const VERIFIED_NAMES = [/^(is )?(verified|valid|intact)$/, /verified|valid|intact|integrity/];
const CHECKED_NAMES = [
  /^last (checked|verified|verification)( at| on)?$/,
  /(checked|verified|verification) (at|on|time|date)$/,
];

/** Record of a stream, and the last entry of the stream. */
interface Pair {
  record: Sample;
  last: Sample;
  stream: StreamSample;
}

type Expected = (pair: Pair) => Json | undefined;

/**
 * Finds the roles of a stream's record by value: fields that equal the number of entries, the last entry's number and
 * its digest in most of the streams that were read to the end.
 */
export function findStreamRoles(
  records: readonly Sample[],
  streams: readonly StreamSample[],
  idField: string,
  roles: ChainRoles,
): { found: StreamRoles; differ: string[] } {
  const pairs = pairsOf(records, streams, idField, roles);
  const fields = allPaths(records);
  const countOf: Expected = ({ stream }) => stream.entries.length;
  const numberOf: Expected = ({ last }) => scalarAt(last.value, roles.sequence);
  const digestOf: Expected = ({ last }) => scalarAt(last.value, roles.digest);
  const counts = equalIn(pairs, fields, countOf).filter((path) => !/verif|check/i.test(path));
  const heads = equalIn(pairs, fields, numberOf).filter(
    (path) => !/verif|check/i.test(path) && !IS_COUNT.test(nameWords(lastName(path)).join(' ')),
  );
  const entry_count = byName(counts, COUNT_NAMES) ?? counts.find((path) => !heads.includes(path)) ?? null;
  const head_sequence =
    preferByName(
      heads.filter((path) => path !== entry_count),
      HEAD_NAMES,
    ) ?? null;
  const head_digest = preferByName(equalIn(pairs, fields, digestOf), HEAD_NAMES) ?? null;
  const flags = fields.filter((path) => isBooleanOrNull(records, path));
  const times = fields.filter((path) => isTimeOrNull(records, path));
  const verified = byName(flags, VERIFIED_NAMES) ?? null;
  const last_checked_at = byName(times, CHECKED_NAMES) ?? null;
  const differ = [
    ...differingIn(pairs, entry_count, countOf),
    ...differingIn(pairs, head_sequence, numberOf),
    ...differingIn(pairs, head_digest, digestOf),
  ];
  return {
    found: { entry_count, head_sequence, head_digest, verified, last_checked_at },
    differ: [...new Set(differ)],
  };
}

/** Pairs records with the last entries of streams that were read to the end. */
function pairsOf(
  records: readonly Sample[],
  streams: readonly StreamSample[],
  idField: string,
  roles: ChainRoles,
): Pair[] {
  return streams.flatMap((stream): Pair[] => {
    const record = records.find(({ value }) => scalarAt(value, idField) === stream.streamId);
    const last = inSequence(stream.entries, roles.sequence).at(-1);
    return record === undefined || last === undefined || !stream.isWhole ? [] : [{ record, last, stream }];
  });
}

function isEqual(pair: Pair, path: string, expected: Expected): boolean {
  return String(scalarAt(pair.record.value, path)) === String(expected(pair));
}

/** Returns the fields that have the expected value in most streams, those with the most matches first. */
function equalIn(pairs: readonly Pair[], fields: readonly string[], expected: Expected): string[] {
  return fields
    .map((path) => ({ path, holds: pairs.filter((pair) => isEqual(pair, path, expected)).length }))
    .filter(({ holds }) => 2 * holds > pairs.length)
    .toSorted((a, b) => b.holds - a.holds)
    .map(({ path }) => path);
}

/** Returns the streams in which a field differs from the expected value. */
function differingIn(pairs: readonly Pair[], path: string | null, expected: Expected): string[] {
  if (path === null) return [];
  return pairs.filter((pair) => !isEqual(pair, path, expected)).map(({ stream }) => stream.streamId);
}

function isBooleanOrNull(records: readonly Sample[], path: string): boolean {
  return records.every(({ value }) => [true, false, null, undefined].includes(scalarAt(value, path) as boolean | null));
}

function isTimeOrNull(records: readonly Sample[], path: string): boolean {
  return records.every(({ value }) => {
    const sent = scalarAt(value, path);
    return sent === null || sent === undefined || timeOf(sent, 'text') !== null;
  });
}
