import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, roughly } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, copyable, emptyState, factList, link, moment, momentOr } from '../../web/components.ts';
import { withQuery } from '../../web/own-path.ts';
import { SHORT_ROWS } from '../../web/rows.ts';
import { actsFor, section } from '../../web/sections.ts';
import { hostOperations } from '../operations/hosts.ts';
import type { EndpointService } from '../service.ts';
import type { WireHost } from '../wire/hosts.ts';
import { baselineTable } from './baselines.ts';
import { sensorCommands } from './enrol.ts';
import { eventTable } from './event-table.ts';
import { baselineCell } from './hosts.ts';
import { driftWords, hostStateWords, missedWord, ONLY_A_LABEL } from './labels.ts';
import type { EndpointPageParts } from './parts.ts';
import {
  ABOVE_ENDPOINTS,
  BASELINES_PATH,
  ENDPOINTS_API,
  EVENTS_PATH,
  hostPath,
  hostStreamPath,
  WINDOWS_PATH,
} from './paths.ts';
import { completeWord, scanTable } from './scans.ts';
import { verifyForm } from './verify.ts';

/** Serves the page of an endpoint: its differences, its reporting, and the result of checks of its reports. */
export function hostPage(server: FastifyInstance, { service, people, clock }: EndpointPageParts): void {
  serveOperationPage(server, hostOperations(service).getHost, {
    path: '/endpoints/hosts/:endpoint_id',
    api: ENDPOINTS_API,
    async view(host, { request, reply }) {
      const now = clock();
      const nameActor = await namesOfActors(people, [host.isolation.by, host.retirement?.by ?? null]);
      return {
        title: host.name,
        above: ABOVE_ENDPOINTS,
        introduction: host.message,
        content: [
          retirement(host, nameActor, now),
          isolation(host, nameActor, now),
          host.status === 'waiting' ? firstReport(request) : null,
          facts(host, now, request),
          acts(host, request),
          await drift(service, host, now),
          section('Reports', verifyForm(host, { request, reply }, now)),
          await scans(service, host, now),
          await baselines(service, host, now),
        ],
      };
    },
  });
}

/** Renders the notice on an endpoint that is labeled as isolated; null otherwise. */
function isolation(
  { isolation: { isolated, since, by, reason } }: WireHost,
  call: NameActor,
  now: Date,
): Markup | null {
  if (!isolated || since === null || by === null) return null;
  return markup`<p class="refusal">Labeled as isolated. ${ONLY_A_LABEL} Labeled by ${name(call(by))}, ${moment(since, now)}. Reason: ${name(reason ?? '')}</p>\n`;
}

function retirement({ retirement: ended }: WireHost, call: NameActor, now: Date): Markup | null {
  if (ended === null) return null;
  return markup`<p class="refusal">Retired by ${name(call(ended.by))}, ${moment(ended.at, now)}. Reason: ${name(ended.reason)}</p>\n`;
}

function firstReport(request: FastifyRequest): Markup {
  const { copy, start } = sensorCommands(request);
  return emptyState(
    'Nothing was reported yet. Where this platform is installed, write the sensor to a folder and copy the folder to the machine. There, start the sensor with the token that enrollment showed:',
    markup`${copyable('copy', 'Copy the sensor', copy)}${copyable('start', 'Start the sensor', start)}`,
  );
}

function facts(host: WireHost, now: Date, request: FastifyRequest): Markup {
  const { endpoint_id, last_report, missed_scans, chain, roots, other_filesystems } = host;
  const stream = forWhoMay(request, 'audit:read', () => link(hostStreamPath(endpoint_id), 'its audit stream'));
  return factList([
    ['Status', hostStateWords(host)],
    ['Unresolved events', driftWords(host)],
    ['Last report', lastReport(host, now)],
    ['Missed scans in 24 hours', missedWord(missed_scans)],
    ['Last scan complete', last_report === null ? 'no scan yet' : completeWord(last_report.complete)],
    ['Scanned every', roughly(host.scan_interval_seconds)],
    ['Baseline', baselineCell(host)],
    ['Chain of reports', chainWords(host, now)],
    ['Enrolled', moment(host.enrolled_at, now)],
    stream && ['Recorded in', stream],
    ['ID', markup`<code>${endpoint_id}</code>`],
    ['Key', chain.public_key === null ? 'none yet' : markup`<code>${chain.public_key}</code>`],
    ['Folders', paths(roots)],
    ['Other file systems', other_filesystems.length === 0 ? 'none' : paths(other_filesystems)],
  ]);
}

function lastReport({ last_report, stale_at }: WireHost, now: Date): Markup {
  const stale = stale_at === null ? null : markup`, stale since ${moment(stale_at, now)}`;
  return markup`${momentOr(last_report?.received_at ?? null, now, 'never')}${stale}`;
}

function chainWords({ chain: { number, went_back_at }, last_report }: WireHost, now: Date): Markup {
  const sequence = last_report === null ? 'no report yet' : `up to report ${grouped(last_report.sequence)}`;
  const back = went_back_at === null ? null : markup`, went back ${moment(went_back_at, now)}`;
  return markup`number ${grouped(number)}, ${sequence}${back}`;
}

function paths(all: readonly string[]): Markup {
  return markup`<ul class="plain">${all.map((path) => markup`<li><code>${name(path)}</code></li>`)}</ul>`;
}

function acts(host: WireHost, request: FastifyRequest): Markup | null {
  const { endpoint_id, baseline, last_report, isolation, status } = host;
  if (status === 'retired') return null;
  const act = (path: string, words: string, weight: 'main' | 'quiet' = 'quiet') =>
    action(hostPath(endpoint_id, path), words, weight);
  return actsFor(request, 'endpoints:write', [
    last_report && act('propose', 'Propose the last scan as a baseline', baseline === null ? 'main' : 'quiet'),
    action(withQuery(`${WINDOWS_PATH}/new`, { endpoint_id }), 'Open a change window', 'quiet'),
    isolation.isolated ? act('release', 'Remove the isolation label') : act('isolate', 'Label as isolated'),
    act('restart', 'Start a new chain'),
    act('retire', 'Retire'),
  ]);
}

async function drift({ events }: EndpointService, { endpoint_id }: WireHost, now: Date): Promise<Markup> {
  const { data } = await events.list({ endpoint_id, status: 'open', limit: SHORT_ROWS });
  const empty = emptyState('No events are open.');
  return section(
    'Open events',
    eventTable(data, { caption: 'Open events', empty, of: 'host', now }),
    link(withQuery(EVENTS_PATH, { endpoint_id }), 'All events of this endpoint'),
  );
}

async function scans({ reports }: EndpointService, { endpoint_id }: WireHost, now: Date): Promise<Markup> {
  const { data } = await reports.list({ endpoint_id, limit: SHORT_ROWS });
  return section('Scans', scanTable(data, now), link(hostPath(endpoint_id, 'scans'), 'All scans of this endpoint'));
}

async function baselines({ baselines: all }: EndpointService, { endpoint_id }: WireHost, now: Date): Promise<Markup> {
  const { data } = await all.list({ endpoint_id, limit: SHORT_ROWS });
  const empty = emptyState('No baseline yet: scans are stored but raise no events.');
  return section(
    'Baselines',
    baselineTable(data, { empty, now }),
    link(withQuery(BASELINES_PATH, { endpoint_id }), 'All baselines of this endpoint'),
  );
}
