import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { queryOf } from '../../web/asked.ts';
import { asCurl, copyable, dataTable, emptyState, further, link, moment, momentOr } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { hidden } from '../../web/fields.ts';
import { filterForm, filterSelect, filtersOf } from '../../web/filters.ts';
import { withQuery } from '../../web/own-path.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { BASELINE_STATUSES } from '../enums.ts';
import { baselineQuerySchema, type WireBaseline } from '../wire/baselines.ts';
import { BASELINE_WORDS, baselineStatusWord } from './labels.ts';
import { type EndpointPageParts, SEES_ENDPOINTS } from './parts.ts';
import { ABOVE_ENDPOINTS, BASELINES_PATH, baselinePath, endpointsApi, hostPath } from './paths.ts';

const filterSchema = filtersOf(baselineQuerySchema.omit({ limit: true }));
type Filter = z.output<typeof filterSchema>;

/** The baselines: those that wait for approval, and all others. */
export function baselinesPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  const options = { config: SEES_ENDPOINTS, schema: { hide: true, querystring: filterSchema } } as const;
  server.get('/endpoints/baselines', options, async (request, reply) => {
    const filter = queryOf<Filter>(request);
    const { cursor: _, ...asked } = filter;
    const { data, next_cursor } = await service.baselines.list({ ...filter, limit: LIST_ROWS });
    const isAll = Object.values(asked).every((value) => value === undefined);
    const empty = isAll ? firstBaseline(request) : emptyState('No baseline is like that.');
    return reply.page({
      title: 'Baselines',
      above: ABOVE_ENDPOINTS,
      introduction:
        'What stands on an endpoint when all is well, as somebody has approved it. A scan is compared with the active one.',
      content: [
        filters(filter),
        baselineTable(data, { empty, hasHost: true, now: clock() }),
        further(BASELINES_PATH, filter, next_cursor),
        asCurl('curl', curlCommand(request, { path: withQuery(endpointsApi('baselines', ''), asked) })),
      ],
    });
  });
}

function filters({ status, endpoint_id }: Filter): Markup {
  const choices = BASELINE_STATUSES.map((value) => ({ value, label: BASELINE_WORDS[value][1] }));
  const select = filterSelect({ name: 'status', label: 'Status', value: status }, choices);
  const ofHost = endpoint_id === undefined ? null : hidden('endpoint_id', endpoint_id);
  return filterForm(BASELINES_PATH, { status, endpoint_id }, [select, ofHost]);
}

function firstBaseline(request: FastifyRequest): Markup {
  const body = { from: 'latest_scan', name: 'first', reason: 'a new machine' };
  const path = `${endpointsApi('hosts')}/ENDPOINT_ID/baselines`;
  const command = curlCommand(request, { method: 'POST', path, body });
  const text =
    'There is no baseline yet: no scan is compared with anything. Propose the last scan of an endpoint on its page, or with a call of the API:';
  return emptyState(text, copyable('first-baseline', 'Propose a baseline, as a call of the API', command));
}

/** Baselines as rows. @param hasHost whether they are of several endpoints. */
export function baselineTable(
  baselines: readonly WireBaseline[],
  { empty, hasHost, now }: { empty: Markup; hasHost?: boolean; now: Date },
): Markup {
  const host = {
    head: 'Endpoint',
    cell: ({ endpoint_id, endpoint_name }: WireBaseline) => link(hostPath(endpoint_id), endpoint_name),
  };
  return dataTable({
    caption: 'Baselines',
    columns: [
      { head: 'Baseline', kind: 'name', cell: baselineCell },
      { head: 'Status', cell: ({ status }) => baselineStatusWord(status) },
      ...(hasHost === true ? [host] : []),
      { head: 'From', kind: 'short', cell: ({ origin }) => (origin === 'scan' ? 'a scan' : 'a file or tool') },
      { head: 'Made', cell: ({ made_at }) => moment(made_at, now) },
      { head: 'Decided', cell: ({ decided_at, status }) => momentOr(decided_at, now, undecided(status)) },
      { head: 'Lines', kind: 'number', cell: ({ line_count }) => grouped(line_count) },
    ],
    rows: baselines,
    empty,
  });
}

/** One that was registered is active at once. */
function undecided(status: WireBaseline['status']): string {
  return status === 'proposed' ? 'not yet' : 'when it was made';
}

function baselineCell({ baseline_id, name, version }: WireBaseline): Markup {
  return markup`${link(baselinePath(baseline_id), name)} <span class="minor">version ${grouped(version)}</span>`;
}
