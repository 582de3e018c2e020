import { EvidenceError } from '../../core/errors.ts';
import { fillIn, fillText } from '../../verifier/profile/answers.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import type { RequestPurpose, RunRecord } from '../../verifier/records/record.ts';

/** Kind of request that an export sends, described for a reader who wants to repeat it. */
export type Operation = RunRecord['source']['requests'][number];

/**
 * Returns the requests by which an export collects its evidence.
 * @param period of the packages.
 * @param listsEntries true if packages are compared with the list of entries.
 */
export function operationsOf(
  description: Description,
  period: { from: string | null; to: string | null },
  listsEntries: boolean,
): Operation[] {
  const { streams, entries, verify, generate, downloads } = description;
  const { ready } = generate;
  const get = (purpose: RequestPurpose, path: string, parameters: string[] = []): Operation => ({
    purpose,
    method: 'GET',
    path,
    parameters,
  });
  const post = (purpose: RequestPurpose, path: string, body: Description['generate']['body']): Operation => ({
    purpose,
    method: 'POST',
    path,
    parameters: [JSON.stringify(fillIn(body, { stream_id: '{stream_id}', ...period }))],
  });
  const list: Operation[] = [];
  list.push(get('list_streams', streams.path, pagingOf(streams)));
  if (verify !== null) list.push(post('check_stream', verify.path, verify.body));
  list.push(post('generate_package', generate.path, generate.body));
  if (ready.when === 'status-says') list.push(get('await_package', ready.path));
  for (const [form, path] of Object.entries(downloads))
    if (path !== null) list.push(get(`download_${form as keyof typeof downloads}`, path));
  if (listsEntries && entries !== null) {
    const parameters = Object.entries(selectionOf(entries, '{stream_id}', period)).map((pair) => pair.join('='));
    list.push(get('list_entries', entries.path, [...parameters, ...pagingOf(entries)]));
  }
  return list;
}

/** Returns the query parameters that select the entries of a stream. */
export function selectionOf(
  { stream_parameter, ...parameters }: NonNullable<Description['entries']>,
  streamId: string,
  period: { from: string | null; to: string | null },
): Record<string, string> {
  return { [stream_parameter]: streamId, ...periodFilter(parameters, period) };
}

/** Returns the query parameters that select a period, as far as the list supports them. */
export function periodFilter(
  { from_parameter, to_parameter }: { from_parameter: string | null; to_parameter: string | null },
  { from, to }: { from: string | null; to: string | null },
): Record<string, string> {
  return {
    ...(from_parameter === null || from === null ? {} : { [from_parameter]: from }),
    ...(to_parameter === null || to === null ? {} : { [to_parameter]: to }),
  };
}

function pagingOf({ limit, paging }: List): string[] {
  const pages = 'parameter' in paging ? [`${paging.parameter}=…`] : [];
  return [...(limit === null ? [] : [`${limit.parameter}=${limit.size}`]), ...pages];
}

/**
 * Inserts ids into a path, each as one segment. Throws for `.` and `..`: URL parsers resolve these even if encoded
 * (WHATWG URL, 4.5), so they would address another resource.
 */
export function inPath(template: string, ids: Readonly<Record<string, string>>): string {
  for (const id of Object.values(ids))
    if (/^\.{0,2}$/.test(id) || !id.isWellFormed())
      throw new EvidenceError('service', `the id ${JSON.stringify(id)} is not allowed in a URL path`);
  return fillText(
    template,
    Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, encodeURIComponent(id)])),
  );
}
