import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../../verifier/profile/description.ts';
import { inUtc } from '../../verifier/profile/time.ts';
import { byName, lastName, preferByName } from '../sample/names.ts';
import { isNearlyAll } from '../sample/nearly-all.ts';
import { commonPaths, type DigestForm, digestFormOf, type Sample, scalarAt, scalarPaths } from '../sample/sample.ts';
import { type ChainRoles, inSequence, type StreamSample } from './chain.ts';

type Unit = Description['entry']['timestamp_unit'];

/** Field of entries that holds a time. */
export interface TimeField {
  field: string;
  unit: Unit;
}

const STREAM_NAMES = [/^stream id$/, /stream/, /chain/];

/** Finds the field that contains the id of a listed stream in nearly all entries, and the id's field in the list. */
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
    return commonPaths(entries).flatMap((inEntry) => {
      const holds = entries.filter(({ value }) => ids.has(scalarAt(value, inEntry))).length;
      return isNearlyAll(holds, entries.length) ? [{ inList, inEntry, holds }] : [];
    });
  });
  pairs.sort((a, b) => b.holds - a.holds);
  const inEntry = preferByName([...new Set(pairs.map((pair) => pair.inEntry))], STREAM_NAMES);
  const inList = pairs.filter((pair) => pair.inEntry === inEntry).map((pair) => pair.inList);
  const [best] = [inList.find((path) => path === inEntry), streamIdByName(inList)].filter((path) => path !== undefined);
  return inEntry === undefined || best === undefined ? null : { inList: best, inEntry };
}

/**
 * Finds the field that contains the stream id in nearly all entries requested for one stream; null if there is none.
 */
export function findIdInEntries(streams: readonly StreamSample[]): string | null {
  const entries = streams.flatMap((stream) => stream.entries);
  const holding = commonPaths(entries).filter((path) => {
    const holds = streams.map(
      (stream) => stream.entries.filter(({ value }) => scalarAt(value, path) === stream.streamId).length,
    );
    return isNearlyAll(
      holds.reduce((sum, count) => sum + count, 0),
      entries.length,
    );
  });
  return entries.length === 0 ? null : (preferByName(holding, STREAM_NAMES) ?? null);
}

/** Finds the stream id in the list of streams by name, if entries do not repeat it. */
export function streamIdByName(paths: readonly string[]): string | undefined {
  return preferByName(paths, [/^stream (id|key|uuid)$/, /^(id|uuid|key)$/, /^(stream|name|slug)$/]);
}

/** Returns milliseconds since 1970; null for an invalid time. */
export function timeOf(sent: Json | undefined, unit: Unit): number | null {
  if (unit === 'text') {
    const time =
      typeof sent === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(sent) ? Date.parse(inUtc(sent)) : Number.NaN;
    return Number.isNaN(time) ? null : time;
  }
  if (typeof sent !== 'number') return null;
  return unit === 'seconds' ? sent * 1000 : sent;
}

/** Infers the unit by size: 2001 to 2128 in seconds, and the same years in milliseconds. */
function unitOf(sent: Json | undefined): Unit | null {
  if (typeof sent === 'string') return timeOf(sent, 'text') === null ? null : 'text';
  if (typeof sent !== 'number' || sent < 1e9 || sent > 5e12) return null;
  if (sent < 5e9) return 'seconds';
  return sent < 1e12 ? null : 'milliseconds';
}

const UNITS: readonly Unit[] = ['text', 'seconds', 'milliseconds'];

const RECORDED = [
  /^(timestamp|recorded|recorded at|ts|logged at|ingested at|received at|sealed at)$/,
  /^(created|created at|created on|creation time|time|at|date)$/,
  /record|ingest|receiv|seal|timestamp|created|logged/,
];
const HAPPENED = /occur|event|happen|expire|effective/;

/**
 * Finds the recorded time of entries: a time that hardly ever decreases along the sequence, with the number of
 * decreases.
 */
export function findTimestamp(
  streams: readonly StreamSample[],
  { sequence }: ChainRoles,
): (TimeField & { backwards: number }) | null {
  const entries = streams.flatMap((stream) => stream.entries);
  const found = commonPaths(entries).flatMap((field) => {
    if (field === sequence || HAPPENED.test(lastName(field))) return [];
    const values = entries.map(({ value }) => scalarAt(value, field));
    const unit = UNITS.find((one) =>
      isNearlyAll(values.filter((value) => unitOf(value) === one).length, values.length),
    );
    if (unit === undefined) return [];
    const backwards = streams.reduce((sum, own) => sum + stepsBack(inSequence(own.entries, sequence), field, unit), 0);
    return isNearlyAll(entries.length - backwards, entries.length) ? [{ field, unit, backwards }] : [];
  });
  const fields = found.toSorted((a, b) => a.backwards - b.backwards);
  const best = preferByName(
    fields.map(({ field }) => field),
    RECORDED,
  );
  return fields.find(({ field }) => field === best) ?? null;
}

function stepsBack(entries: readonly Sample[], field: string, unit: Unit): number {
  const times = entries.map(({ value }) => timeOf(scalarAt(value, field), unit));
  return times.filter((time, index) => time === null || time < (times[index - 1] ?? time)).length;
}

/** Finds the entry id: a field without another role whose values are nearly all distinct over all streams. */
export function findEntryId(entries: readonly Sample[], taken: readonly string[]): string | null {
  const idsIn = (path: string) => {
    const values = entries.map(({ value }) => scalarAt(value, path));
    const ids = values.filter((value) => (typeof value === 'string' && value !== '') || Number.isSafeInteger(value));
    return digestFormOf(values.map((value) => value ?? null)) === null ? new Set(ids).size : 0;
  };
  const unique = commonPaths(entries)
    .filter((path) => !taken.includes(path))
    .map((path) => ({ path, ids: idsIn(path) }))
    .filter(({ ids }) => isNearlyAll(ids, entries.length))
    .toSorted((a, b) => b.ids - a.ids)
    .map(({ path }) => path);
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
  /** Field with the id of the key; null if there is none. */
  keyField: string | null;
}

const SEAL_NAMES = [/seal/, /^(signature|sig|mac|hmac)$/, /sign|mac/];

/**
 * Finds the seal: a text as long as an HMAC, with another value in nearly every entry, and named like a seal or
 * signature. The name has to decide, because the digest of an attachment has the same form.
 */
export function findSeal(entries: readonly Sample[], { digest, previous }: ChainRoles): SealRole | null {
  const candidates = commonPaths(entries).flatMap((field) => {
    if (field === digest || field === previous) return [];
    const values = entries.map(({ value }) => scalarAt(value, field) ?? null);
    const form = digestFormOf(values);
    const isUnique = isNearlyAll(new Set(values).size, values.length);
    return form === null || form.prefix !== '' || !isUnique ? [] : [{ field, form }];
  });
  const best = byName(
    candidates.map(({ field }) => field),
    SEAL_NAMES,
  );
  const seal = candidates.find(({ field }) => field === best);
  return seal === undefined ? null : { ...seal, keyField: findKeyField(entries) };
}

const MAX_KEYS = 20;

/**
 * Finds the field with the id of the key: few short values in nearly all entries, and a name that suggests a key id.
 */
export function findKeyField(entries: readonly Sample[]): string | null {
  const few = commonPaths(entries).filter((path) => {
    const short = entries
      .map(({ value }) => scalarAt(value, path))
      .filter(
        (value) => (typeof value === 'string' && value !== '' && value.length <= 64) || Number.isSafeInteger(value),
      );
    const most = Math.max(1, Math.min(MAX_KEYS, entries.length / 2));
    return isNearlyAll(short.length, entries.length) && new Set(short).size <= most;
  });
  const key = /\b(key|kid)\b/;
  return byName(few, [/\b(seal|sign|signature|signing|mac|hmac) key\b/, /^key (id|version|name|ref)$/, key]) ?? null;
}

/** Returns the paths of the scalars whose text equals the wanted value. */
export function pathsOfValue(value: Json | undefined, wanted: Json | undefined): string[] {
  if (wanted === undefined || wanted === null || wanted === '') return [];
  return scalarPaths(value).filter((path) => String(scalarAt(value, path)) === String(wanted));
}
