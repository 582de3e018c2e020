import type { Description } from '../contract/description.ts';
import { inUtc } from '../contract/time.ts';
import type { Json } from '../encoding/canonical.ts';
import { type ChainRoles, inSequence, type StreamSample } from './chain-roles.ts';
import { byName, lastName, preferByName, wordsOf } from './names.ts';
import { allPaths, commonPaths, type DigestForm, digestFormOf, type Sample, scalarAt, scalarPaths } from './sample.ts';

type Unit = Description['entry']['timestamp_unit'];

/** The field that is the same in all entries of a stream and is its id in the list of streams; and its name there. */
export function findStreamId(
  streams: readonly Sample[],
  entries: readonly Sample[],
): { inList: string; inEntry: string } | null {
  const idsIn = (path: string) => new Set(streams.map(({ value }) => scalarAt(value, path)));
  const candidates = commonPaths(streams).filter((path) => {
    const ids = idsIn(path);
    return ids.size === streams.length && [...ids].every((id) => typeof id === 'string' && id !== '');
  });
  const pairs = candidates.flatMap((inList) => {
    const ids = idsIn(inList);
    return commonPaths(entries)
      .filter((path) => entries.every(({ value }) => ids.has(scalarAt(value, path))))
      .map((inEntry) => ({ inList, inEntry }));
  });
  const inEntry = preferByName([...new Set(pairs.map((pair) => pair.inEntry))], [/^stream id$/, /stream/, /chain/]);
  const inList = pairs.filter((pair) => pair.inEntry === inEntry).map((pair) => pair.inList);
  const [best] = [inList.find((path) => path === inEntry), streamIdByName(inList)].filter((path) => path !== undefined);
  return inEntry === undefined || best === undefined ? null : { inList: best, inEntry };
}

/** The id of a stream in the list of streams, where entries do not repeat it. */
export function streamIdByName(paths: readonly string[]): string | undefined {
  return preferByName(paths, [/^stream (id|key|uuid)$/, /^(id|uuid|key)$/, /^(stream|name|slug)$/]);
}

/** Milliseconds since 1970; null for what is no time. */
export function timeOf(sent: Json | undefined, unit: Unit): number | null {
  if (unit === 'text') {
    const time =
      typeof sent === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(sent) ? Date.parse(inUtc(sent)) : Number.NaN;
    return Number.isNaN(time) ? null : time;
  }
  if (typeof sent !== 'number') return null;
  return unit === 'seconds' ? sent * 1000 : sent;
}

/** By its size: from 2001 to 2128 in seconds, and the same years in milliseconds. */
function unitOf(sent: Json | undefined): Unit | null {
  if (typeof sent === 'string') return timeOf(sent, 'text') === null ? null : 'text';
  if (typeof sent !== 'number' || sent < 1e9 || sent > 5e12) return null;
  if (sent < 5e9) return 'seconds';
  return sent < 1e12 ? null : 'milliseconds';
}

const RECORDED = [
  /^(timestamp|recorded|recorded at|ts|logged at|ingested at|received at|sealed at)$/,
  /^(created|created at|created on|creation time|time|at|date)$/,
  /record|ingest|receiv|seal|timestamp|created|logged/,
];
const HAPPENED = /occur|event|happen|expire|effective/;

/** When entries were recorded: a time that never goes back along the sequence. */
export function findTimestamp(
  streams: readonly StreamSample[],
  { sequence }: ChainRoles,
): { field: string; unit: Unit } | null {
  const entries = streams.flatMap((stream) => stream.entries);
  const fields = commonPaths(entries).flatMap((field) => {
    const unit = unitOf(scalarAt(entries[0]?.value, field));
    if (unit === null || field === sequence || HAPPENED.test(lastName(field))) return [];
    const grows = streams.every(({ entries: own }) => neverGoesBack(inSequence(own, sequence), field, unit));
    return grows ? [{ field, unit }] : [];
  });
  const best = preferByName(
    fields.map(({ field }) => field),
    RECORDED,
  );
  return fields.find(({ field }) => field === best) ?? null;
}

function neverGoesBack(entries: readonly Sample[], field: string, unit: Unit): boolean {
  const times = entries.map(({ value }) => timeOf(scalarAt(value, field), unit));
  return times.every((time, index) => time !== null && time >= (times[index - 1] ?? time));
}

/** The id of an entry: no two entries have the same, of whatever stream, and it plays no other role. */
export function findEntryId(entries: readonly Sample[], taken: readonly string[]): string | null {
  const unique = commonPaths(entries).filter((path) => {
    if (taken.includes(path)) return false;
    const values = entries.map(({ value }) => scalarAt(value, path));
    const isId = values.every((value) => (typeof value === 'string' && value !== '') || Number.isSafeInteger(value));
    return (
      isId && new Set(values).size === values.length && digestFormOf(values.map((value) => value ?? null)) === null
    );
  });
  const others = /resource|target|actor|user|request|correlation|session|trace|parent|object|subject/;
  const named = unique.filter((path) => !others.test(lastName(path).toLowerCase()));
  return (
    byName(named, [/^(entry|log|event|record|audit) (id|uuid|uid)$/, /^(id|uuid|uid|guid|ulid)$/, /(id|uuid|uid)$/]) ??
    null
  );
}

export interface SealRole {
  field: string;
  form: DigestForm;
  /** The field that names the key; null when none does. */
  keyField: string | null;
}

const SEAL_NAMES = [/seal/, /^(signature|sig|mac|hmac)$/, /sign|mac/];

/**
 * A text beside the digest that is as long as an HMAC, has another value in every entry, and is called a seal or a
 * signature: a name has to decide, because the digest of an attachment looks the same.
 */
export function findSeal(entries: readonly Sample[], { digest, previous }: ChainRoles): SealRole | null {
  const candidates = commonPaths(entries).flatMap((field) => {
    if (field === digest || field === previous) return [];
    const values = entries.map(({ value }) => scalarAt(value, field) ?? null);
    const form = digestFormOf(values);
    return form === null || form.prefix !== '' || new Set(values).size < values.length ? [] : [{ field, form }];
  });
  const best = byName(
    candidates.map(({ field }) => field),
    SEAL_NAMES,
  );
  const seal = candidates.find(({ field }) => field === best);
  return seal === undefined ? null : { ...seal, keyField: findKeyField(entries) };
}

const MAX_KEYS = 20;

/** The field that names a key: few short values in all entries, and a name that says key and which. */
export function findKeyField(entries: readonly Sample[]): string | null {
  const few = commonPaths(entries).filter((path) => {
    const values = new Set(entries.map(({ value }) => scalarAt(value, path)));
    const short = [...values].every(
      (value) => (typeof value === 'string' && value !== '' && value.length <= 64) || Number.isSafeInteger(value),
    );
    return short && values.size <= Math.max(1, Math.min(MAX_KEYS, entries.length / 2));
  });
  const key = /\b(key|kid)\b/;
  return byName(few, [/\b(seal|sign|signature|signing|mac|hmac) key\b/, /^key (id|version|name|ref)$/, key]) ?? null;
}

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

/**
 * The roles of a stream's own record, by value: what equals the number of its entries, the number of the last one and
 * its digest, in every stream that was read to its end.
 */
export function findStreamRoles(
  records: readonly Sample[],
  streams: readonly StreamSample[],
  idField: string,
  roles: ChainRoles,
): StreamRoles {
  const pairs = streams.flatMap((stream) => {
    const record = records.find(({ value }) => scalarAt(value, idField) === stream.streamId);
    const last = inSequence(stream.entries, roles.sequence).at(-1);
    return record === undefined || last === undefined || !stream.isWhole ? [] : [{ record, last, stream }];
  });
  const fields = allPaths(records);
  const equal = (expected: (pair: (typeof pairs)[number]) => Json | undefined) =>
    pairs.length === 0
      ? []
      : fields.filter((path) =>
          pairs.every((pair) => String(scalarAt(pair.record.value, path)) === String(expected(pair))),
        );
  const isCount = /count|total|size|length|entries|events|records|logs/;
  const counts = equal(({ stream }) => stream.entries.length).filter((path) => !/verif|check/i.test(path));
  const heads = equal(({ last }) => scalarAt(last.value, roles.sequence)).filter(
    (path) => !/verif|check/i.test(path) && !isCount.test(wordsOf(lastName(path)).join(' ')),
  );
  const count = byName(counts, COUNT_NAMES) ?? counts.find((path) => !heads.includes(path));
  return {
    entry_count: count ?? null,
    head_sequence:
      preferByName(
        heads.filter((path) => path !== count),
        HEAD_NAMES,
      ) ?? null,
    head_digest:
      preferByName(
        equal(({ last }) => scalarAt(last.value, roles.digest)),
        HEAD_NAMES,
      ) ?? null,
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

/** The scalars of one object whose text is this. */
export function pathsOfValue(value: Json | undefined, wanted: Json | undefined): string[] {
  if (wanted === undefined || wanted === null || wanted === '') return [];
  return scalarPaths(value).filter((path) => String(scalarAt(value, path)) === String(wanted));
}
