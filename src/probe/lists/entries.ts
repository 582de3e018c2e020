import type { List } from '../../verifier/profile/list-description.ts';
import type { Hints } from '../openapi.ts';
import type { Reasoning } from '../report.ts';
import type { StreamSample } from '../roles/chain.ts';
import { findIdInEntries } from '../roles/entry.ts';
import { type Ask, type Sample, scalarAt } from '../sample/sample.ts';
import { findStreamFilter, type StreamFilter } from './entries-list.ts';
import { inferList, pagingLike, toList, withEnd } from './list.ts';
import { describeListing } from './listing.ts';
import { readKeepingFilter } from './lost-filter.ts';
import { itemsIn, readItems, type SamplePage } from './paging.ts';
import { describeList, type StreamsSurvey } from './streams.ts';
import type { EntriesSurvey } from './survey.ts';

const ENTRIES = '/entries/';
const MAX_OF_STREAM = 300;
const MAX_ENTRIES = 600;
const MAX_STREAMS_READ = 12;

/** Infers the list of entries, and reads a sample of each stream. */
export async function inferEntries(
  ask: Ask,
  hints: Hints,
  { ids, idInEntry: idInUnfiltered, unfiltered, form: streamsForm }: StreamsSurvey,
  reasoning: Reasoning,
): Promise<EntriesSurvey | null> {
  const known = await findStreamFilter(ask, ids, idInUnfiltered, hints.entries);
  const first = (itemsIn(unfiltered) ?? []).length > 0 ? unfiltered : known?.example.answer;
  const own: Record<string, string> =
    first === unfiltered || known === null ? {} : { [known.parameter]: known.example.streamId };
  const found = first === undefined ? null : await inferList(ask, ENTRIES, own, hints.entries, first);
  if (found === null || first === undefined) {
    const what = `GET ${ENTRIES} answers ${unfiltered.status} and no entries`;
    reasoning.needs('entries', what, 'there is nothing to learn the chain from');
    return null;
  }
  const form = pagingLike(found, hints.entries, first, streamsForm);
  const trial = { ask, list: toList(ENTRIES, form), filter: known, field: idInUnfiltered, documented: hints.entries };
  const read = (list: List, by: StreamFilter | null) => readSample(ask, list, by, ids, idInUnfiltered);
  const { list: start, filter, streams, last } = await readKeepingFilter(trial, read, reasoning);
  const idInEntry = idInUnfiltered ?? findId(streams, filter, reasoning);
  const list = withEnd(start, last);
  reasoning.found('list of entries', describeList(list), form.how);
  const [longest] = streams.toSorted((a, b) => b.entries.length - a.entries.length);
  return {
    list,
    streams,
    samples: streams.flatMap(({ entries }) => entries),
    idInEntry,
    filter,
    exampleId: longest?.streamId ?? ids[0] ?? '',
    describe: (chain, report) =>
      describeListing(ask, hints, { list, streams, filter, isLost: known !== filter }, chain, report),
  };
}

/** Finds the field of entries with the id of the stream that they were requested for. */
function findId(streams: readonly StreamSample[], filter: StreamFilter | null, reasoning: Reasoning): string | null {
  const id = filter === null ? null : findIdInEntries(streams);
  const how = 'nearly every entry has the id of the stream it was asked for by';
  if (id !== null) reasoning.found('stream id in entries', id, how);
  return id;
}

/** Reads enough entries of several streams, including first entries. */
async function readSample(
  ask: Ask,
  list: List,
  filter: StreamFilter | null,
  ids: readonly string[],
  field: string | null,
): Promise<{ streams: StreamSample[]; last: SamplePage | null }> {
  if (filter === null) {
    const pages = await readItems(ask, list, {}, MAX_ENTRIES);
    return { streams: byStream(pages, field), last: pages.last };
  }
  const example = filter.example.streamId;
  const streams: StreamSample[] = [];
  let end: SamplePage | null = null;
  let total = 0;
  for (const streamId of [example, ...ids.filter((id) => id !== example)].slice(0, MAX_STREAMS_READ)) {
    const { items, isWhole, last } = await readItems(ask, list, { [filter.parameter]: streamId }, MAX_OF_STREAM);
    if (items.length > 0) streams.push({ streamId, entries: items, isWhole });
    end ??= last;
    total += items.length;
    const hasWhole = streams.some((stream) => stream.isWhole && stream.entries.length > 1);
    if (total >= MAX_ENTRIES && hasWhole) break;
  }
  return { streams, last: end };
}

/** Groups entries by stream. */
export function byStream(
  { items, isWhole }: { items: Sample[]; isWhole: boolean },
  field: string | null,
): StreamSample[] {
  const groups = Map.groupBy(items, ({ value }) => (field === null ? '' : String(scalarAt(value, field))));
  return [...groups].map(([streamId, entries]) => ({ streamId, entries, isWhole }));
}
