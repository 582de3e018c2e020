import { plural } from '../../core/words.ts';
import type { List } from '../../verifier/profile/description.ts';
import { findChains, firstEntries, genesisOf, miscounted, nearestLink, type StreamSample } from './chain-roles.ts';
import { findStreamFilter, type StreamFilter } from './entries-list.ts';
import { findIdInEntries, findTimestamp } from './entry-roles.ts';
import { inferList, pagingLike, toList, withEnd } from './list.ts';
import { describeListing, reportStrangers } from './listing.ts';
import { readKeepingFilter } from './lost-filter.ts';
import type { Hints } from './openapi.ts';
import { readItems, type SamplePage } from './paging.ts';
import { placesOf } from './places.ts';
import type { Reasoning } from './report.ts';
import { type Ask, type Sample, scalarAt } from './sample.ts';
import { describeList, type StreamsSurvey, sampledItemsOf } from './streams.ts';
import type { Chain, EntriesSurvey } from './survey.ts';

const ENTRIES = '/entries/';
const MAX_OF_STREAM = 300;
const MAX_ENTRIES = 600;
const MAX_STREAMS_READ = 12;

/** The list of entries, and a sample of them, stream by stream. */
export async function inferEntries(
  ask: Ask,
  hints: Hints,
  { ids, idInEntry: idInUnfiltered, unfiltered, form: streamsForm }: StreamsSurvey,
  reasoning: Reasoning,
): Promise<EntriesSurvey | null> {
  const known = await findStreamFilter(ask, ids, idInUnfiltered, hints.entries);
  const first = sampledItemsOf(unfiltered).length > 0 ? unfiltered : known?.example.answer;
  const own: Record<string, string> =
    first === unfiltered || known === null ? {} : { [known.parameter]: known.example.streamId };
  const found = first === undefined ? null : await inferList(ask, ENTRIES, own, hints.entries, first);
  if (found === null || first === undefined) {
    reasoning.needs(
      'entries',
      `GET ${ENTRIES} answers ${unfiltered.status} and no entries`,
      'there is nothing to learn the chain from',
    );
    return null;
  }
  const form = pagingLike(found, hints.entries, first, streamsForm);
  const trial = { ask, list: toList(ENTRIES, form), filter: known, field: idInUnfiltered, documented: hints.entries };
  const read = (list: List, by: StreamFilter | null) => readSample(ask, list, by, ids, idInUnfiltered);
  const { list: start, filter, streams, last } = await readKeepingFilter(trial, read, reasoning);
  const idInEntry = idInUnfiltered ?? (filter === null ? null : findIdInEntries(streams));
  if (idInUnfiltered === null && idInEntry !== null)
    reasoning.found(
      'stream id in entries',
      idInEntry,
      'nearly every entry has the id of the stream it was asked for by',
    );
  const list = withEnd(start, last);
  const samples = streams.flatMap(({ entries }) => entries);
  reasoning.found('list of entries', describeList(list), form.how);
  const exampleId = streams.toSorted((a, b) => b.entries.length - a.entries.length)[0]?.streamId ?? ids[0] ?? '';
  return {
    list,
    streams,
    samples,
    idInEntry,
    filter,
    exampleId,
    describe: (chain, report) =>
      describeListing(ask, hints, { list, streams, filter, isLost: known !== filter }, chain, report),
  };
}

/** Entries of several streams: first ones among them, and enough of them. */
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

/** The entries by their stream. */
export function byStream(
  { items, isWhole }: { items: Sample[]; isWhole: boolean },
  field: string | null,
): StreamSample[] {
  const groups = Map.groupBy(items, ({ value }) => (field === null ? '' : String(scalarAt(value, field))));
  return [...groups].map(([streamId, entries]) => ({ streamId, entries, isWhole }));
}

/** The chain in the sample: which number counts, which fields link, and what the first entry says. */
export function findChainOf({ streams, idInEntry, samples }: EntriesSurvey, reasoning: Reasoning): Chain | null {
  const [roles] = findChains(streams);
  if (roles === undefined) {
    const near = nearestLink(streams);
    const why =
      near === null
        ? 'no number of the entries counts up by one within a stream'
        : `no field of an entry is nearly always a digest of the entry before it: the best one is so in ${near.holds} of ${near.of} pairs`;
    reasoning.needs('chain', why, 'order: there is no chain that could be followed');
    return null;
  }
  const { sequence, firstSequence, previous, digest, form, links, broken } = roles;
  reasoning.found('sequence', sequence, `counts up by one within each stream, from ${firstSequence}`);
  const jumps = streams.flatMap(({ entries }) => miscounted(entries, sequence));
  reasoning.doubts(
    'sequence',
    'the number is not one more than that of the entry before: entries are missing, doubled or renumbered',
    jumps.length,
    placesOf(jumps, streams, sequence),
  );
  reasoning.found(
    'link',
    `${previous} → ${digest}`,
    `each entry repeats the digest of the one before it: ${links} of ${links + broken.length}`,
  );
  reasoning.refutes(
    'link',
    'does not name the digest of the entry before: one of the two was altered, or the service links them in another way',
    broken.length,
    placesOf(broken, streams, sequence),
  );
  const genesis = genesisOf(streams, roles);
  const prefix = form.prefix === '' ? '' : ` behind "${form.prefix}"`;
  reasoning.found(
    'digest',
    `${form.bytes} bytes in ${form.encoding}${prefix}`,
    `by length and alphabet of ${plural(samples.length, 'digest')}`,
  );
  if (genesis === null) {
    const firsts = firstEntries(streams, roles);
    const why = firsts.length === 0 ? 'no first entry of a stream was seen' : 'the first entries do not show it';
    reasoning.lacks('genesis', why, 'taken to be null: check digest.genesis before you export');
    reasoning.doubts(
      'genesis',
      'the first entry names a predecessor in a way that no other stream confirms',
      firsts.length,
      placesOf(firsts, streams, sequence),
    );
  } else
    reasoning.found(
      'genesis',
      typeof genesis === 'string' ? genesis : 'a text of its own',
      'said by the first entries',
    );
  reportStrangers({ streams, idInEntry }, roles, genesis, reasoning);
  const timestamp = findTimestamp(streams, roles);
  if (timestamp === null)
    reasoning.lacks(
      'timestamp',
      'every time of the entries goes back too often',
      'entries cannot be held against the period',
    );
  else
    reasoning.found(
      'timestamp',
      timestamp.field,
      `a time as ${timestamp.unit} that goes back along the sequence ${timestamp.backwards === 0 ? 'never' : `in ${plural(timestamp.backwards, 'entry')} only`}`,
    );
  return {
    roles,
    digest: { encoding: form.encoding, prefix: form.prefix, genesis: genesis ?? 'null' },
    timestamp,
    streamId: idInEntry,
  };
}
