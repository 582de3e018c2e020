import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { serveOperationList } from '../../operations/list.ts';
import { copyable, dataTable, emptyState, link, moment, momentOr } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { hidden } from '../../web/fields.ts';
import { filterSelect } from '../../web/filters.ts';
import { BASELINE_STATUSES } from '../enums.ts';
import { baselineOperations } from '../operations/baselines.ts';
import type { WireBaseline } from '../wire/baselines.ts';
import { BASELINE_WORDS, baselineStatusWord } from './labels.ts';
import type { EndpointPageParts } from './parts.ts';
import { ABOVE_ENDPOINTS, baselinePath, ENDPOINTS_API, endpointsApi, hostPath } from './paths.ts';

/** Serves the list of baselines: those that wait for approval, and all others. */
export function baselinesPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  serveOperationList(server, baselineOperations(service).listBaselines, {
    path: '/endpoints/baselines',
    api: ENDPOINTS_API,
    head: () => ({
      title: 'Baselines',
      above: ABOVE_ENDPOINTS,
      introduction: 'Approved states of endpoints. Each scan is compared with the active baseline of its endpoint.',
    }),
    filters: ({ status, endpoint_id }) => [
      filterSelect({ status }, ['status', 'Status'], BASELINE_STATUSES, (value) => BASELINE_WORDS[value][1]),
      endpoint_id === undefined ? null : hidden('endpoint_id', endpoint_id),
    ],
    table(baselines, { request, isAll }) {
      const empty = isAll ? firstBaseline(request) : emptyState('No baselines match.');
      return baselineTable(baselines, { empty, hasHost: true, now: clock() });
    },
  });
}

function firstBaseline(request: FastifyRequest): Markup {
  const body = { from: 'latest_scan', name: 'first', reason: 'a new machine' };
  const path = `${endpointsApi('hosts')}/ENDPOINT_ID/baselines`;
  const command = curlCommand(request, { method: 'POST', path, body });
  const text =
    'No baselines yet, so scans are not compared. Propose the last scan of an endpoint on its page or with the API:';
  return emptyState(text, copyable('first-baseline', 'Propose a baseline, as an API call', command));
}

/** Renders baselines as rows. @param hasHost true if the rows are of several endpoints. */
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
      { head: 'Created', cell: ({ made_at }) => moment(made_at, now) },
      { head: 'Decided', cell: ({ decided_at, status }) => momentOr(decided_at, now, undecided(status)) },
      { head: 'Lines', kind: 'number', cell: ({ line_count }) => grouped(line_count) },
    ],
    rows: baselines,
    empty,
  });
}

/** Returns the text for a baseline without a decision; a registered one is active at once. */
function undecided(status: WireBaseline['status']): string {
  return status === 'proposed' ? 'not yet' : 'when it was created';
}

function baselineCell({ baseline_id, name, version }: WireBaseline): Markup {
  return markup`${link(baselinePath(baseline_id), name)} <span class="minor">version ${grouped(version)}</span>`;
}
