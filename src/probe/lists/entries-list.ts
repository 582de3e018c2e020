import type { Description } from '../../verifier/profile/description.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import type { Described } from '../openapi.ts';
import { type ChainRoles, numberAt, type StreamSample } from '../roles/chain.ts';
import { type TimeField, timeOf } from '../roles/entry.ts';
import { lastName, namesIn } from '../sample/names.ts';
import { isNearlyAll } from '../sample/nearly-all.ts';
import { type Ask, type Sample, type SampleAnswer, scalarAt } from '../sample/sample.ts';
import { itemsIn, overlap, readItems, sameItems } from './paging.ts';

type Entries = NonNullable<Description['entries']>;

const PATH = '/entries/';

const STREAM_PARAMETERS = namesIn(`
  stream_id streamId stream stream_name streamName stream_key stream_uuid chain_id chainId chain
`);

export interface StreamFilter {
  parameter: string;
  /** Answer for a stream with entries. */
  example: { streamId: string; answer: SampleAnswer };
}

/**
 * Finds the parameter that selects the entries of one stream. A parameter is accepted if every requested stream is
 * answered with nearly only its own entries, the answers share no entry, and an unknown id returns no entries.
 *
 * @param field of an entry with its stream's id; null if there is none.
 */
export async function findStreamFilter(
  ask: Ask,
  streamIds: readonly string[],
  field: string | null,
  documented: readonly Described[],
): Promise<StreamFilter | null> {
  const known = documented.filter(({ name }) => /stream|chain/i.test(name)).map(({ name }) => name);
  for (const parameter of new Set([...known, ...(field === null ? [] : [lastName(field)]), ...STREAM_PARAMETERS])) {
    const filter = await tryStreamFilter(ask, parameter, streamIds, field);
    if (filter !== null) return filter;
  }
  return null;
}

const STREAMS_TRIED = 8;

async function tryStreamFilter(
  ask: Ask,
  parameter: string,
  streamIds: readonly string[],
  field: string | null,
): Promise<StreamFilter | null> {
  const seen: Sample[] = [];
  let example: StreamFilter['example'] | null = null;
  for (const streamId of streamIds.slice(0, STREAMS_TRIED)) {
    const answer = await ask({ url: PATH, query: { [parameter]: streamId } });
    const items = itemsIn(answer);
    if (items === null) return null;
    const own = items.filter(({ value }) => field === null || scalarAt(value, field) === streamId).length;
    if (!isNearlyAll(own, items.length) || overlap(seen, items)) return null;
    seen.push(...items);
    if (example === null && items.length > 0) example = { streamId, answer };
  }
  const nobody = itemsIn(await ask({ url: PATH, query: { [parameter]: `${streamIds[0]}-no-such-stream` } })) ?? [];
  return nobody.length === 0 && example !== null ? { parameter, example } : null;
}

/** Returns the order in which the list returns the entries of a stream. */
export function orderOf(streams: readonly StreamSample[], { sequence }: ChainRoles): Entries['order'] {
  const follows = (step: 1 | -1) =>
    streams.every(({ entries }) =>
      entries.every(
        ({ value }, index) =>
          index === 0 || step * (numberAt(value, sequence) - numberAt(entries[index - 1]?.value ?? null, sequence)) > 0,
      ),
    );
  if (follows(1)) return 'ascending';
  return follows(-1) ? 'descending' : 'unordered';
}

const FROMS = namesIn(`
  from since start_date startDate date_from dateFrom start start_time startTime from_date fromDate from_time after
  created_after createdAfter min_timestamp timestamp_from timestamp_gte
`);
const TOS = namesIn(`
  to until end_date endDate date_to dateTo end end_time endTime to_date toDate to_time before created_before
  createdBefore max_timestamp timestamp_to timestamp_lt
`);

export interface PeriodFilter {
  /** False if all entries are on one side of every moment, so that nothing could be tried. */
  wasTried: boolean;
  from: string | null;
  to: string | null;
}

/**
 * Finds the parameters that select by time: `from` returns exactly the entries at its moment and later, `to` exactly
 * the earlier ones.
 *
 * @param stream with many entries, preferably read to the end.
 */
export async function findPeriodFilter(
  ask: Ask,
  list: List,
  filter: Record<string, string>,
  stream: StreamSample,
  timestamp: TimeField,
  documented: readonly Described[],
): Promise<PeriodFilter> {
  const moment = boundaryOf(stream.entries, timestamp);
  if (moment === null) return { wasTried: false, from: null, to: null };
  const timed = documented.filter(({ format }) => /date/.test(format)).map(({ name }) => name);
  const at = (sample: Sample) => timeOf(scalarAt(sample.value, timestamp.field), timestamp.unit) ?? Number.NaN;
  const find = async (names: readonly string[], isWanted: (time: number) => boolean): Promise<string | null> => {
    const wanted = stream.entries.filter((sample) => isWanted(at(sample)));
    for (const name of new Set([...timed, ...names, ...suffixed(timestamp.field, names === FROMS)])) {
      const query = { ...filter, [name]: new Date(moment).toISOString() };
      const { items } = await readItems(ask, list, query, wanted.length + 1);
      if (isSelection(items, wanted, stream)) return name;
    }
    return null;
  };
  return {
    wasTried: true,
    from: await find(FROMS, (time) => time >= moment),
    to: await find(TOS, (time) => time < moment),
  };
}

/**
 * Reports whether the items are the wanted entries of a stream, and neither the whole stream nor the default answer.
 */
function isSelection(items: readonly Sample[], wanted: readonly Sample[], { entries, isWhole }: StreamSample): boolean {
  if (!sameItems(items.slice(0, wanted.length), wanted)) return false;
  if (items.length === wanted.length) return true;
  // A stream that was not read to its end may have further entries.
  return !isWhole && wanted[0] !== entries[0];
}

/** Returns parameter names in the style of Django. */
function suffixed(field: string, isFrom: boolean): string[] {
  return (isFrom ? ['__gte', '_gte', '_from', '_after'] : ['__lt', '_lt', '_to', '_before']).map(
    (end) => lastName(field) + end,
  );
}

/**
 * Returns a moment near the middle that equals the time of exactly one entry, in whole milliseconds, to show on which
 * side of the limit that entry is.
 */
function boundaryOf(entries: readonly Sample[], { field, unit }: TimeField): number | null {
  const times = entries.map(({ value }) => {
    const sent = scalarAt(value, field);
    return { sent, time: timeOf(sent, unit) };
  });
  const middle = (times.length - 1) / 2;
  const usable = times
    .map(({ sent, time }, index) => ({ sent, time, distance: Math.abs(index - middle) }))
    .filter(({ sent, time }) => time !== null && Number.isInteger(time) && !/\.\d{3}\d*[1-9]/.test(String(sent)));
  const alone = usable.filter(({ time }) => times.filter((other) => other.time === time).length === 1);
  const inside = alone.filter(({ time }) => times.some((other) => (other.time ?? 0) < (time ?? 0)));
  const exact = nearest(inside);
  if (exact !== null) return exact;
  // Falls back to a moment just after an entry, which still separates earlier entries from later ones.
  const finer = times
    .flatMap(({ time }, index) =>
      time === null ? [] : [{ time: Math.floor(time) + 1, distance: Math.abs(index - middle) }],
    )
    .filter(
      ({ time }) => times.every((other) => other.time !== time) && times.some((other) => (other.time ?? 0) > time),
    );
  return nearest(finer);
}

function nearest(moments: readonly { time: number | null; distance: number }[]): number | null {
  return moments.toSorted((a, b) => a.distance - b.distance)[0]?.time ?? null;
}
