import type { List } from '../../verifier/profile/list-description.ts';
import type { Described } from '../openapi.ts';
import type { Reasoning } from '../report.ts';
import type { StreamSample } from '../roles/chain.ts';
import { isNearlyAll } from '../sample/nearly-all.ts';
import { type Ask, type Sample, type SampleRequest, scalarAt } from '../sample/sample.ts';
import type { StreamFilter } from './entries-list.ts';
import { inferCounted } from './list.ts';
import { nextQuestion, readPage, type SamplePage } from './paging.ts';

/** Entries of a list, by stream. */
interface SampleRead {
  streams: StreamSample[];
  last: SamplePage | null;
}

interface KeptFilter extends SampleRead {
  list: List;
  /**
   * Stream filter; null if no way to read further pages of a stream was found. Then all entries were read and grouped
   * by stream.
   */
  filter: StreamFilter | null;
}

interface Trial {
  ask: Ask;
  list: List;
  filter: StreamFilter | null;
  /** Field of an entry with its stream's id; null if there is none. */
  field: string | null;
  documented: readonly Described[];
}

/**
 * Reads a sample with a stream filter. If the next page loses the filter and contains entries of other streams, pages
 * are requested by number instead, or the filter is dropped.
 *
 * @param read reads a sample by a list and a filter.
 */
export async function readKeepingFilter(
  { ask, list, filter, field, documented }: Trial,
  read: (list: List, filter: StreamFilter | null) => Promise<SampleRead>,
  reasoning: Reasoning,
): Promise<KeptFilter> {
  const sample = await read(list, filter);
  const [longest] = sample.streams.toSorted((a, b) => b.entries.length - a.entries.length);
  if (filter === null || field === null || longest === undefined) return { ...sample, list, filter };
  const { streamId } = longest;
  const query = {
    [filter.parameter]: streamId,
    ...(list.limit === null ? {} : { [list.limit.parameter]: String(list.limit.size) }),
  };
  const isOwn = ({ value }: Sample) => String(scalarAt(value, field)) === streamId;
  const lost = await findLostPage(ask, list, query, isOwn);
  if (lost === null) return { ...sample, list, filter };
  const says = `${wordsFor(lost.next)} has entries of streams other than "${streamId}": its link drops the filter "${filter.parameter}". Report this to the service's operator`;
  const { path, items } = list;
  const paging = await inferCounted({ ask, path, filter: query, documented, items }, lost.first);
  const counted = paging === null ? null : { ...list, paging };
  if (counted !== null && (await findLostPage(ask, counted, query, isOwn)) === null) {
    reasoning.lacks('next page', says, 'pages are requested by number instead');
    return { ...(await read(counted, filter)), list: counted, filter };
  }
  reasoning.lacks('entries of a stream', says, "completeness falls back to the stream's own record");
  return { ...(await read(list, null)), list, filter: null };
}

/** Returns the first page of a stream and the request for the second, if the second page contains other streams. */
async function findLostPage(
  ask: Ask,
  list: List,
  query: Record<string, string>,
  isOwn: (item: Sample) => boolean,
): Promise<{ first: SamplePage; next: SampleRequest } | null> {
  const first = readPage(await ask({ url: list.path, query }), list.items);
  const next = first === null ? null : nextQuestion(list, query, first, { items: 0, pages: 0 });
  const second = next === null ? null : readPage(await ask(next), list.items);
  if (first === null || next === null || second === null) return null;
  return isNearlyAll(second.items.filter(isOwn).length, second.items.length) ? null : { first, next };
}

/** Describes a request without its values, which may include the API key. */
function wordsFor({ url: reference }: SampleRequest): string {
  const url = URL.parse(reference, 'http://service');
  if (url === null) return 'the next page';
  const names = [...url.searchParams.keys()].map((name) => `${name}=…`);
  return `the next page, ${url.pathname}${names.length === 0 ? '' : `?${names.join('&')}`},`;
}
