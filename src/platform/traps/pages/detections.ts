import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { plural } from '../../../core/plurals.ts';
import { severityWord } from '../../alerts/api.ts';
import { isKnown, sendKnown } from '../../http/etag.ts';
import { forWhoMay, queryOf } from '../../web/asked.ts';
import { action, emptyState, further, link, statusWord } from '../../web/components.ts';
import { hidden } from '../../web/fields.ts';
import { filterForm, filterSelect, filtersOf } from '../../web/filters.ts';
import { liveMark, liveRegion } from '../../web/live.ts';
import { withQuery } from '../../web/own-path.ts';
import { LIST_ROWS, SHORT_ROWS } from '../../web/rows.ts';
import { DETECTION_STATUSES } from '../enums.ts';
import type { TrapsOverview } from '../overview.ts';
import type { TrapService } from '../service.ts';
import { detectionQuerySchema } from '../wire.ts';
import { detectionTable } from './detection-table.ts';
import { DETECTION_STATUS_WORDS } from './labels.ts';
import { MAY_SEE, type TrapPageParts } from './parts.ts';
import { CREDENTIALS_PATH, TRAPS_PATH, trapPath, trapsApi } from './paths.ts';

const filterSchema = filtersOf(detectionQuerySchema.pick({ status: true, credential_id: true, cursor: true }));
type Filter = z.output<typeof filterSchema>;

/** Serves the list of detections, open ones first. The page refreshes itself if scripts run. */
export function detectionsPage(server: FastifyInstance, { service, clock }: TrapPageParts): void {
  const options = { config: MAY_SEE, schema: { hide: true, querystring: filterSchema } } as const;
  server.get('/traps', options, async (request, reply) => {
    const filter = queryOf<Filter>(request);
    const now = clock();
    const mark = liveMark(await service.detections.currentVersion(), now);
    if (isKnown(reply, mark)) return sendKnown(reply);
    const overview = await service.overview();
    const { cursor: _, ...asked } = filter;
    return reply.page({
      title: 'Traps',
      introduction:
        'Credentials without a legitimate use. Each use is a detection; successive uses by one client count as one.',
      content: [
        ways(overview),
        forWhoMay(request, 'traps:write', () => markup`<p>${action(`${TRAPS_PATH}/new`, 'Create a trap')}</p>\n`),
        filters(filter),
        live(mark, overview, now, await lists(service, filter, now)),
      ],
      api: { path: withQuery(trapsApi('detections', ''), asked) },
    });
  });
}

function ways({ planted, unproved, lost }: TrapsOverview): Markup {
  const facts = [
    ...(unproved === 0 ? [] : [markup`, ${statusWord('warning', `${unproved} not proved`)} in the last 30 days`]),
    ...(lost === 0 ? [] : [markup`, ${statusWord('warning', `${lost} without a listening decoy`)}`]),
  ];
  return markup`<p>${plural(planted, 'trap')} planted${facts}. ${link(CREDENTIALS_PATH, 'All traps')}</p>
`;
}

function filters({ status, credential_id }: Filter): Markup {
  return filterForm(TRAPS_PATH, { status, credential_id }, [
    filterSelect({ status }, ['status', 'Status'], DETECTION_STATUSES, (value) => DETECTION_STATUS_WORDS[value]),
    credential_id === undefined ? null : hidden('credential_id', credential_id),
  ]);
}

function live(mark: string, { open }: TrapsOverview, now: Date, content: Markup): Markup {
  const says = open === null ? 'No open detections.' : `${plural(open.count, 'detection')} open.`;
  const worst =
    open === null
      ? null
      : markup`<p>${statusWord('bad', `${plural(open.count, 'detection')} open`)}, at worst ${severityWord(open.worst)}</p>\n`;
  return liveRegion({ mark, says, now }, [worst, content]);
}

async function lists(service: TrapService, filter: Filter, now: Date): Promise<Markup> {
  const { status, credential_id, cursor } = filter;
  if (status === undefined && credential_id === undefined) return openAndSeen(service, cursor, now);
  const { data, next_cursor } = await service.detections.list({ ...filter, limit: LIST_ROWS });
  const hasStatus = status === undefined;
  const empty = emptyState('No detections match.');
  const trap =
    credential_id === undefined ? null : markup`<p>Only of ${link(trapPath(credential_id), 'one trap')}.</p>\n`;
  return markup`${trap}${detectionTable(data, { caption: 'Detections', empty, hasStatus, now })}${further(TRAPS_PATH, filter, next_cursor)}`;
}

/** Renders the page without a filter: open detections, followed by the last acknowledged ones. */
async function openAndSeen({ detections }: TrapService, cursor: string | undefined, now: Date): Promise<Markup> {
  const open = await detections.list({ status: 'open', cursor, limit: LIST_ROWS });
  const seen = await detections.list({ status: 'acknowledged', limit: SHORT_ROWS });
  const all = (status: string, words: string) => link(withQuery(TRAPS_PATH, { status }), words);
  return markup`<h2>Open</h2>
${detectionTable(open.data, { caption: 'Open detections', empty: emptyState('No open detections.'), hasStatus: false, now })}${further(TRAPS_PATH, { status: 'open' }, open.next_cursor)}<h2>Acknowledged</h2>
${detectionTable(seen.data, { caption: 'Acknowledged detections', empty: emptyState('No acknowledged detections.'), hasStatus: false, now })}<p class="further">${all('acknowledged', 'All acknowledged')} · ${all('archived', 'All archived')}</p>
`;
}
