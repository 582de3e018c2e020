import type { FastifyInstance } from 'fastify';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { dataTable, digest, emptyState, further, link, moment, statusWord } from '../../web/components.ts';
import { withQuery } from '../../web/own-path.ts';
import { cursorSchema } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { hostOperations } from '../operations/hosts.ts';
import type { WireScan } from '../wire/reports.ts';
import type { EndpointPageParts } from './parts.ts';
import { aboveHost, baselinePath, ENDPOINTS_API, endpointsApi, hostPath } from './paths.ts';

/** Serves the list of an endpoint's reports. */
export function scansPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  serveOperationPage(server, hostOperations(service).getHost, {
    path: '/endpoints/hosts/:endpoint_id/scans',
    api: ENDPOINTS_API,
    query: cursorSchema,
    async view(host, { params: { endpoint_id }, query: { cursor } }) {
      const { data, next_cursor } = await service.reports.list({ endpoint_id, cursor, limit: LIST_ROWS });
      return {
        title: 'Scans',
        above: aboveHost(host),
        introduction: 'Reports of the sensor, newest first. Each report contains the digest of the previous one.',
        content: [scanTable(data, clock()), further(hostPath(endpoint_id, 'scans'), { cursor }, next_cursor)],
        api: { path: withQuery(endpointsApi('scans', ''), { endpoint_id }) },
      };
    },
  });
}

export function scanTable(scans: readonly WireScan[], now: Date): Markup {
  return dataTable({
    caption: 'Scans',
    columns: [
      { head: 'Report', kind: 'name', cell: reportCell },
      { head: 'Complete', cell: ({ complete }) => completeWord(complete) },
      { head: 'Compared with', cell: comparedCell },
      { head: 'Received', cell: ({ received_at }) => moment(received_at, now) },
      { head: 'Lines', kind: 'number', cell: ({ line_count }) => grouped(line_count) },
      { head: 'Raised', kind: 'number', cell: ({ events }) => grouped(events.raised) },
      { head: 'Resolved', kind: 'number', cell: ({ events }) => grouped(events.resolved) },
      { head: 'Digest', cell: ({ report_sha256 }) => digest(report_sha256) },
    ],
    rows: scans,
    empty: emptyState('No reports yet.'),
  });
}

function reportCell({ chain, sequence }: WireScan): Markup {
  return markup`${grouped(sequence)}${chain === 1 ? null : markup` <span class="minor">of chain ${grouped(chain)}</span>`}`;
}

export function completeWord(complete: boolean): Markup {
  return complete ? statusWord('good', 'yes') : statusWord('warning', 'no');
}

function comparedCell({ baseline_id }: WireScan): Markup {
  return baseline_id === null
    ? markup`<span class="minor">nothing</span>`
    : link(baselinePath(baseline_id), 'the baseline at the time');
}
