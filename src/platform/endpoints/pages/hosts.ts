import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { agree, grouped, plural } from '../../../core/plurals.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, copyable, dataTable, emptyState, further, link, momentOr } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { filterForm, filterSelect, filtersOf } from '../../web/filters.ts';
import { withQuery } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { HOST_STATUSES, type HostStatus } from '../enums.ts';
import { type HostQuery, hostQuerySchema, type WireHost } from '../wire/hosts.ts';
import type { EndpointStats } from '../wire/reports.ts';
import { driftWords, HOST_STATUS_WORDS, hostStateWords, missedWord } from './labels.ts';
import { type EndpointPageParts, SEES_ENDPOINTS } from './parts.ts';
import {
  BASELINES_PATH,
  baselinePath,
  CHANGES_PATH,
  ENDPOINTS_PATH,
  ENROL_PATH,
  EVENTS_PATH,
  endpointsApi,
  hostPath,
  PACKAGES_PATH,
  WINDOWS_PATH,
} from './paths.ts';

const filterSchema = filtersOf(hostQuerySchema.omit({ limit: true }));

/** Serves the list of endpoints, with the state of each. */
export function hostsPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  servePage(server, {
    path: '/endpoints',
    access: SEES_ENDPOINTS,
    query: filterSchema,
    async view({ request, query: { cursor, status } }) {
      const stats = await service.stats();
      const { data, next_cursor } = await service.hosts.list({ limit: LIST_ROWS, cursor, status });
      const rest = further(ENDPOINTS_PATH, { status, cursor }, next_cursor);
      return {
        title: 'Endpoints',
        introduction:
          'Machines whose binaries a sensor scans regularly. Each difference from an approved baseline raises an event at the next scan. Nothing is blocked.',
        content: [
          ways(stats),
          forWhoMay(request, 'endpoints:write', () => markup`<p>${action(ENROL_PATH, 'Enroll an endpoint')}</p>\n`),
          stats.hosts === 0 ? firstEndpoint(request) : [filters({ status }), hostTable(data, clock()), rest],
        ],
        api: { path: withQuery(endpointsApi('hosts', ''), { status }) },
      };
    },
  });
}

function ways({ hosts, stale, proposed_baselines: proposed }: EndpointStats): Markup {
  const facts = [
    plural(hosts, 'endpoint'),
    ...(stale === 0 ? [] : [`${grouped(stale)} ${agree(stale, 'is', 'are')} stale`]),
    ...(proposed === 0 ? [] : [`${plural(proposed, 'baseline')} ${agree(proposed, 'waits', 'wait')} for approval`]),
  ];
  const links = [
    link(EVENTS_PATH, 'Events'),
    link(CHANGES_PATH, 'Changes'),
    link(WINDOWS_PATH, 'Change windows'),
    link(BASELINES_PATH, 'Baselines'),
    link(PACKAGES_PATH, 'Signed packages'),
  ];
  return markup`<p>${facts.join(', ')}. ${links.map((each, at) => (at === 0 ? each : markup` · ${each}`))}</p>
`;
}

function filters(asked: Pick<HostQuery, 'status'>): Markup {
  const wordOf = (status: HostStatus) => HOST_STATUS_WORDS[status][1];
  return filterForm(ENDPOINTS_PATH, asked, filterSelect(asked, ['status', 'Status'], HOST_STATUSES, wordOf));
}

function hostTable(hosts: readonly WireHost[], now: Date): Markup {
  return dataTable({
    caption: 'Endpoints',
    columns: [
      { head: 'Endpoint', kind: 'name', cell: ({ endpoint_id, name }) => link(hostPath(endpoint_id), name) },
      { head: 'Status', cell: hostStateWords },
      { head: 'Events', cell: driftWords },
      { head: 'Baseline', cell: baselineCell },
      { head: 'Last report', cell: ({ last_report }) => momentOr(last_report?.received_at ?? null, now, 'never') },
      { head: 'Missed in 24 h', kind: 'number', cell: ({ missed_scans }) => missedWord(missed_scans) },
    ],
    rows: hosts,
    empty: emptyState('No endpoints match.'),
  });
}

export function baselineCell({ baseline }: Pick<WireHost, 'baseline'>): Markup {
  if (baseline === null) return markup`<span class="minor">none</span>`;
  const { baseline_id, name, version } = baseline;
  return markup`${link(baselinePath(baseline_id), name)} <span class="minor">version ${grouped(version)}</span>`;
}

function firstEndpoint(request: FastifyRequest): Markup {
  const body = { name: 'web-1' };
  const command = curlCommand(request, { method: 'POST', path: endpointsApi('enroll'), body });
  const text =
    'No endpoints are enrolled yet. Enroll one here or with the API, which returns the token for its sensor:';
  return emptyState(text, copyable('first-endpoint', 'Enroll an endpoint, as an API call', command));
}
