import { EvidenceError } from '../../core/errors.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import type { Hints } from '../openapi.ts';
import type { Reasoning } from '../report.ts';
import type { ChainRoles, StreamSample } from '../roles/chain.ts';
import { findStreamId, streamIdByName } from '../roles/entry.ts';
import { unlikeNamed } from '../roles/package.ts';
import { findStreamRoles, type StreamRoles } from '../roles/stream.ts';
import { type Ask, commonPaths, isSuccess, type Sample, type SampleAnswer, scalarAt } from '../sample/sample.ts';
import { inferList, type ListForm, pagingLike, toList, withEnd } from './list.ts';
import { itemsIn, readItems } from './paging.ts';

/** Next step if the list of streams, the first resource requested, is not found. */
const NO_SERVICE_THERE = {
  nextStep:
    'Check the address of the audit service: its path is probably missing or wrong. It may end with /audit, as in http://127.0.0.1:8181/audit.',
};

const STREAMS = '/streams/';
const ENTRIES = '/entries/';
const MAX_RECORDS = 2000;

export interface StreamsSurvey {
  list: List;
  form: ListForm;
  records: Sample[];
  idField: string;
  /** Field of an entry with its stream's id; null if there is none. */
  idInEntry: string | null;
  ids: string[];
  /** Answer of the list of entries without a filter. */
  unfiltered: SampleAnswer;
}

/** Infers the list of streams and its id field. */
export async function inferStreams(ask: Ask, hints: Hints, reasoning: Reasoning): Promise<StreamsSurvey | null> {
  const first = await ask({ url: STREAMS });
  if (first.status === 404) throw new EvidenceError('not-found', `GET ${STREAMS} answered 404`, NO_SERVICE_THERE);
  if (!isSuccess(first)) throw first.error ?? new EvidenceError('contract', `GET ${STREAMS} returned nothing readable`);
  const form = await inferList(ask, STREAMS, {}, hints.streams, first);
  if (form === null) {
    reasoning.needs('streams', `GET ${STREAMS} returned no array of objects`, 'there is no stream to export');
    return null;
  }
  const unfiltered = await ask({ url: ENTRIES });
  const other =
    form.paging === null && isSuccess(unfiltered) ? await inferList(ask, ENTRIES, {}, hints.entries, unfiltered) : null;
  const settled = pagingLike(form, hints.streams, first, other);
  const start = toList(STREAMS, settled);
  const { items: records, last } = await readItems(ask, start, {}, MAX_RECORDS);
  const list = withEnd(start, last);
  if (records.length === 0) {
    reasoning.needs(
      'streams',
      'the list of streams is empty',
      'there is nothing to learn from: record an entry, then probe again',
    );
    return null;
  }
  const { idField, idInEntry } = findIds(records, itemsIn(unfiltered) ?? [], reasoning);
  if (idField === null) return null;
  reasoning.found('list of streams', describeList(list), settled.how);
  const ids = records.map(({ value }) => String(scalarAt(value, idField)));
  return { list, form: settled, records, idField, idInEntry, ids, unfiltered };
}

function findIds(
  records: readonly Sample[],
  entries: readonly Sample[],
  reasoning: Reasoning,
): { idField: string | null; idInEntry: string | null } {
  const pair = findStreamId(records, entries);
  if (pair !== null) {
    const { inList, inEntry } = pair;
    const how = 'nearly every entry has the id of a listed stream there';
    reasoning.found('stream id', `${inList}, in entries ${inEntry}`, how);
    return { idField: inList, idInEntry: inEntry };
  }
  const idField = streamIdByName(commonPaths(records).filter((path) => isText(records, path))) ?? null;
  if (idField !== null) reasoning.found('stream id', idField, 'by name: entries do not repeat it');
  else
    reasoning.needs('stream id', 'no stream field is a text that identifies the stream', 'no stream can be requested');
  return { idField, idInEntry: null };
}

function isText(records: readonly Sample[], path: string): boolean {
  return records.every(({ value }) => typeof scalarAt(value, path) === 'string');
}

export function describeList({ items, paging, limit }: List): string {
  const where = items === '' ? 'the answer itself' : items;
  const { style } = paging;
  const detail =
    style === 'cursor'
      ? ` ${paging.next} → ${paging.parameter}`
      : style === 'link'
        ? ` ${paging.next ?? 'Link header'}`
        : 'parameter' in paging
          ? ` ${paging.parameter}`
          : '';
  return `items in ${where}; ${style}${detail}${limit === null ? '' : `; page size by ${limit.parameter}`}`;
}

/** Compares the statements in streams' records with their entries. */
export function readStreamRecords(
  { records, idField }: StreamsSurvey,
  streams: readonly StreamSample[],
  roles: ChainRoles,
  reasoning: Reasoning,
): StreamRoles {
  const { found, differ } = findStreamRoles(records, streams, idField, roles);
  const whole = streams.filter(({ isWhole }) => isWhole).length;
  const proved = [found.entry_count, found.head_sequence, found.head_digest].filter((path) => path !== null);
  if (proved.length > 0)
    reasoning.found(
      'count and head',
      proved.join(', '),
      `equal to the entries of ${whole - differ.length} of ${whole} streams that were read to the end`,
    );
  reasoning.doubts(
    'count and head',
    `${differ.length} of ${whole} streams do not have the entries that their own record states`,
    differ.length,
    differ.map((streamId) => ({ streamId, from: null, to: null })),
  );
  reportUnlike(found, whole === 0 ? [] : records, reasoning);
  if (found.verified !== null)
    reasoning.found('verified', found.verified, 'true, false or null, and named accordingly');
  else
    reasoning.lacks(
      'verified',
      'no stream field is true or false and named accordingly',
      'whether the service has verified a stream is not shown',
    );
  return found;
}

/** Reports fields that are named like a count or head but do not equal it. */
function reportUnlike(found: StreamRoles, records: readonly Sample[], reasoning: Reasoning): void {
  const named = { ...found, last_sequence: found.head_sequence };
  const unlike = new Set(records.flatMap(({ value }) => unlikeNamed(value, named)));
  reasoning.doubts(
    'count and head',
    `${[...unlike].join(', ')}: named like a count or head, but different from the entries in most streams`,
    unlike.size,
  );
  if (found.entry_count === null && found.head_sequence === null)
    reasoning.lacks(
      'count and head',
      'no stream field equals them',
      'only the listing can show that a stream was truncated',
    );
}
