import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { paramsOf, queryOf } from '../../web/asked.ts';
import { dataTable, digest, emptyState, further, link, moment, statusWord } from '../../web/components.ts';
import { withQuery } from '../../web/own-path.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { hostParamsSchema } from '../wire/hosts.ts';
import type { WireScan } from '../wire/reports.ts';
import { type EndpointPageParts, SEES_ENDPOINTS } from './parts.ts';
import { aboveHost, baselinePath, endpointsApi, hostPath } from './paths.ts';

const querySchema = z.object({ cursor: z.string().optional() });

/** All that an endpoint has reported. */
export function scansPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  const schema = { hide: true, params: hostParamsSchema, querystring: querySchema };
  server.get('/endpoints/hosts/:endpoint_id/scans', { config: SEES_ENDPOINTS, schema }, async (request, reply) => {
    const { endpoint_id } = paramsOf<{ endpoint_id: string }>(request);
    const { cursor } = queryOf<z.output<typeof querySchema>>(request);
    const host = await service.hosts.find(endpoint_id);
    const { data, next_cursor } = await service.reports.list({ endpoint_id, cursor, limit: LIST_ROWS });
    const api = withQuery(endpointsApi('scans', ''), { endpoint_id });
    return reply.page({
      title: 'Scans',
      above: aboveHost(host),
      introduction: 'What the sensor has reported, newest first. Each report has the digest of the one before in it.',
      content: [scanTable(data, clock()), further(hostPath(endpoint_id, 'scans'), { cursor }, next_cursor)],
      api: { path: api },
    });
  });
}

export function scanTable(scans: readonly WireScan[], now: Date): Markup {
  return dataTable({
    caption: 'Scans',
    columns: [
      { head: 'Report', kind: 'name', cell: reportCell },
      { head: 'All was read', cell: ({ complete }) => completeWord(complete) },
      { head: 'Compared with', cell: comparedCell },
      { head: 'Received', cell: ({ received_at }) => moment(received_at, now) },
      { head: 'Lines', kind: 'number', cell: ({ line_count }) => grouped(line_count) },
      { head: 'Raised', kind: 'number', cell: ({ events }) => grouped(events.raised) },
      { head: 'Resolved', kind: 'number', cell: ({ events }) => grouped(events.resolved) },
      { head: 'Digest', cell: ({ report_sha256 }) => digest(report_sha256) },
    ],
    rows: scans,
    empty: emptyState('It has not reported yet.'),
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
    : link(baselinePath(baseline_id), 'its baseline then');
}
