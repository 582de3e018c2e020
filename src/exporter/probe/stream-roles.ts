import type { Json } from '../../core/json/canonical.ts';
import { type ChainRoles, inSequence, type StreamSample } from './chain-roles.ts';
import { timeOf } from './entry-roles.ts';
import { byName, lastName, nameWords, preferByName } from './names.ts';
import { allPaths, type Sample, scalarAt } from './sample.ts';

export interface StreamRoles {
  entry_count: string | null;
  head_sequence: string | null;
  head_digest: string | null;
  verified: string | null;
  last_checked_at: string | null;
}

const COUNT_NAMES = [/count|total|size|length/, /^(entries|events|records|logs)$/];
const HEAD_NAMES = [/^head/, /^(last|latest|tip|current|max)\b/, /seq|position|index/];
const VERIFIED_NAMES = [/^(is )?(verified|valid|intact)$/, /verified|valid|intact|integrity/];
const CHECKED_NAMES = [
  /^last (checked|verified|verification)( at| on)?$/,
  /(checked|verified|verification) (at|on|time|date)$/,
];

/** A stream's own record, and its last entry. */
interface Pair {
  record: Sample;
  last: Sample;
  stream: StreamSample;
}

type Expected = (pair: Pair) => Json | undefined;

/**
 * The roles of a stream's own record, by value: what equals the number of its entries, the number of the last one and
 * its digest, in most of the streams that were read to their end.
 */
export function findStreamRoles(
  records: readonly Sample[],
  streams: readonly StreamSample[],
  idField: string,
  roles: ChainRoles,
): { found: StreamRoles; differ: string[] } {
  const pairs = streams.flatMap((stream): Pair[] => {
    const record = records.find(({ value }) => scalarAt(value, idField) === stream.streamId);
    const last = inSequence(stream.entries, roles.sequence).at(-1);
    return record === undefined || last === undefined || !stream.isWhole ? [] : [{ record, last, stream }];
  });
  const fields = allPaths(records);
  const isEqual = (pair: Pair, path: string, expected: Expected) =>
    String(scalarAt(pair.record.value, path)) === String(expected(pair));
  const equal = (expected: Expected) =>
    fields
      .map((path) => ({ path, holds: pairs.filter((pair) => isEqual(pair, path, expected)).length }))
      .filter(({ holds }) => 2 * holds > pairs.length)
      .toSorted((a, b) => b.holds - a.holds)
      .map(({ path }) => path);
  const differing = (path: string | null | undefined, expected: Expected) =>
    path === null || path === undefined
      ? []
      : pairs.filter((pair) => !isEqual(pair, path, expected)).map(({ stream }) => stream.streamId);
  const isCount = /count|total|size|length|entries|events|records|logs/;
  const countOf: Expected = ({ stream }) => stream.entries.length;
  const numberOf: Expected = ({ last }) => scalarAt(last.value, roles.sequence);
  const digestOf: Expected = ({ last }) => scalarAt(last.value, roles.digest);
  const counts = equal(countOf).filter((path) => !/verif|check/i.test(path));
  const heads = equal(numberOf).filter(
    (path) => !/verif|check/i.test(path) && !isCount.test(nameWords(lastName(path)).join(' ')),
  );
  const count = byName(counts, COUNT_NAMES) ?? counts.find((path) => !heads.includes(path));
  const head = preferByName(
    heads.filter((path) => path !== count),
    HEAD_NAMES,
  );
  const headDigest = preferByName(equal(digestOf), HEAD_NAMES);
  const found: StreamRoles = {
    entry_count: count ?? null,
    head_sequence: head ?? null,
    head_digest: headDigest ?? null,
    verified:
      byName(
        fields.filter((path) => isBooleanOrNull(records, path)),
        VERIFIED_NAMES,
      ) ?? null,
    last_checked_at:
      byName(
        fields.filter((path) => isTimeOrNull(records, path)),
        CHECKED_NAMES,
      ) ?? null,
  };
  const differ = [...differing(count, countOf), ...differing(head, numberOf), ...differing(headDigest, digestOf)];
  return { found, differ: [...new Set(differ)] };
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
