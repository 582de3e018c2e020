import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { SEVERITY_TONES } from '../../alerts/api.ts';
import { factList, link, moment, momentOr, type TileView } from '../../web/components.ts';
import type { OverviewOfModule, TimelineEvent } from '../../web/overview.ts';
import { withQuery } from '../../web/own-path.ts';
import { EVENT_SEVERITIES } from '../enums.ts';
import type { WireEvent } from '../wire/events.ts';
import type { EndpointStats } from '../wire/reports.ts';
import { isOfReports } from './event-title.ts';
import { EVENT_WORDS } from './labels.ts';
import type { EndpointPageParts } from './parts.ts';
import { BASELINES_PATH, ENDPOINTS_PATH, ENROL_PATH, EVENTS_PATH, eventPath, hostPath } from './paths.ts';
import { oneLine, pathLine } from './shown-path.ts';

const MOST = 30;

/** Summarizes all endpoints and the latest events. */
export async function endpointsOverview({ service, clock }: EndpointPageParts): Promise<OverviewOfModule> {
  const stats = await service.stats();
  const { data } = await service.events.list({ limit: MOST });
  return { tile: tileOf(stats, clock()), events: data.map(eventOf) };
}

function tileOf(stats: EndpointStats, now: Date): TileView {
  const { open_since, last_report_at } = stats;
  return {
    title: 'Endpoint integrity',
    ...verdictOf(stats),
    content: factList([
      ['What', what(stats)],
      ['Since', open_since === null ? 'no known problems' : markup`first seen ${moment(open_since, now)}`],
      ['Last endpoint report', momentOr(last_report_at, now, 'never')],
    ]),
  };
}

/**
 * Returns the verdict, worst first. An explained event of low severity raises no alarm; an endpoint without comparison
 * is not called good.
 */
function verdictOf(stats: EndpointStats): Pick<TileView, 'tone' | 'word' | 'next'> {
  const { hosts, stale, waiting, without_baseline, proposed_baselines, open_events } = stats;
  const at = (title: string, path: string) => ({ title, path });
  const events = at('See the events', EVENTS_PATH);
  if (open_events.critical + open_events.high > 0)
    return { tone: 'bad', word: 'Serious events on endpoints', next: events };
  if (stale > 0) return { tone: 'bad', word: 'Endpoints are not reporting', next: at('See which', staleList) };
  if (open_events.medium > 0) return { tone: 'warning', word: 'Endpoints have changed', next: events };
  if (hosts === 0)
    return { tone: 'neutral', word: 'No endpoints are enrolled yet', next: at('Enroll one', ENROL_PATH) };
  if (proposed_baselines > 0)
    return { tone: 'warning', word: 'Baselines await approval', next: at('See them', proposedList) };
  if (waiting > 0 || without_baseline > 0)
    return { tone: 'warning', word: 'Some endpoints are not compared', next: at('See the endpoints', ENDPOINTS_PATH) };
  return { tone: 'good', word: 'Endpoints match their baselines', next: at('See the endpoints', ENDPOINTS_PATH) };
}

const staleList = withQuery(ENDPOINTS_PATH, { status: 'stale' });
const proposedList = withQuery(BASELINES_PATH, { status: 'proposed' });

function what(stats: EndpointStats): string {
  const { hosts, stale, waiting, without_baseline, proposed_baselines, isolated, open_events } = stats;
  const open = EVENT_SEVERITIES.reduce((sum, severity) => sum + open_events[severity], 0);
  const worst = EVENT_SEVERITIES.findLast((severity) => open_events[severity] > 0);
  const unwatched = without_baseline - Math.min(waiting, without_baseline);
  const facts = [
    ...(worst === undefined ? [] : [`${plural(open, 'open event')}, at worst ${worst}`]),
    ...(stale === 0 ? [] : [`${plural(stale, 'endpoint')} not reporting`]),
    ...(waiting === 0 ? [] : [`${plural(waiting, 'endpoint')} never reported`]),
    ...(unwatched === 0 ? [] : [`${plural(unwatched, 'endpoint')} without a baseline`]),
    ...(proposed_baselines === 0 ? [] : [`${plural(proposed_baselines, 'proposed baseline')}`]),
    ...(isolated === 0 ? [] : [`${grouped(isolated)} labeled as isolated`]),
    ...(hosts === 0 ? ['nothing is scanned'] : []),
  ];
  return facts.length === 0 ? `${plural(hosts, 'endpoint')}, no differences` : facts.join('; ');
}

function eventOf(event: WireEvent): TimelineEvent {
  const { event_id, event_type, endpoint_id, endpoint_name, status, severity, last_seen } = event;
  return {
    at: last_seen,
    tone: status === 'open' ? SEVERITY_TONES[severity] : 'neutral',
    words: markup`${subjectOf(event)}${link(hostPath(endpoint_id), oneLine(endpoint_name))}: ${link(eventPath(event_id), EVENT_WORDS[event_type].word)}.`,
  };
}

function subjectOf(event: WireEvent): Markup | null {
  if (isOfReports(event)) return null;
  return markup`<code>${name(pathLine(event))}</code> on `;
}
