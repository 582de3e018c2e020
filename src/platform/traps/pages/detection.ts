import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { alertFact, severityWord } from '../../alerts/api.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { forWhoMay, paramsOf } from '../../web/asked.ts';
import { asCurl, dataTable, digest, emptyState, factList, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { hidden, postForm } from '../../web/fields.ts';
import { serveForm } from '../../web/forms.ts';
import { SHORT_ROWS } from '../../web/rows.ts';
import type { DetectionStatus } from '../enums.ts';
import { detectionOperations } from '../operations/detections.ts';
import { KEPT_OCCURRENCES } from '../repository.ts';
import {
  detectionParamsSchema,
  newStatusSchema,
  type occurrenceSchema,
  type WireDetection,
  type wholeDetectionSchema,
} from '../wire.ts';
import { orUnknown } from './detection-table.ts';
import {
  CHANNEL_WORDS,
  DEPTH_WORDS,
  DETECTION_STATUS_WORDS,
  detectionStatusWord,
  PLACE_WORDS,
  TYPE_WORDS,
} from './labels.ts';
import { MAY_ACT, type TrapPageParts } from './parts.ts';
import { ABOVE_TRAPS, detectionPath, TRAPS_API, trapEntryPath, trapPath, trapsApi } from './paths.ts';

type WholeDetection = z.infer<typeof wholeDetectionSchema>;
type KeptOccurrence = z.infer<typeof occurrenceSchema>;

interface Asked {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Pages of a detection: its facts, and the form that changes its status. */
export function detectionPages(server: FastifyInstance, parts: TrapPageParts): void {
  onePage(server, parts);
  statusForm(server, parts);
}

function onePage(server: FastifyInstance, { service, people, clock }: TrapPageParts): void {
  serveOperationPage(server, detectionOperations(service).getDetection, {
    path: '/traps/detections/:detection_id',
    api: TRAPS_API,
    async view(detection, asked) {
      const now = clock();
      const nameActor = await namesOfActors(people, [detection.acknowledged_by]);
      return {
        title: `Use of ${detection.label}`,
        above: ABOVE_TRAPS,
        introduction: sentenceOf(detection),
        content: [facts(detection, nameActor, now, asked.request), acts(detection, asked), occurrences(detection, now)],
      };
    },
  });
}

function statusForm(server: FastifyInstance, { service }: TrapPageParts): void {
  serveForm(server, {
    path: '/traps/detections/:detection_id/status',
    access: MAY_ACT,
    params: detectionParamsSchema,
    schema: newStatusSchema.loose(),
    async show(asked) {
      const detection = await service.detections.find(idOf(asked.request));
      const title = `Use of ${detection.label}`;
      return {
        title: 'Change the status of the detection',
        isNarrow: true,
        above: [...ABOVE_TRAPS, { title, path: detectionPath(detection.detection_id) }],
        content: changes(detection).map(([status, submit], at) =>
          statusButton(asked, { status, submit, isLesser: at > 0 }),
        ),
      };
    },
    async act({ status }, request) {
      await service.detections.setStatus(actorOf(principalOf(request)), idOf(request), status);
      const notice = `The detection is now ${DETECTION_STATUS_WORDS[status]}.`;
      return { notice, next: detectionPath(idOf(request)) };
    },
  });
}

/** Returns the statuses that a detection can change to. */
function changes({ status }: WireDetection): (readonly [DetectionStatus, string])[] {
  const all = [
    ['acknowledged', 'Acknowledge'],
    ['archived', 'Archive'],
    ['open', 'Reopen'],
  ] as const;
  return all.filter(([each]) => each !== status);
}

function statusButton(
  asked: Parameters<typeof postForm>[0],
  { status, submit, action, isLesser }: { status: DetectionStatus; submit: string; action?: string; isLesser: boolean },
): Markup {
  const button = isLesser ? markup`<button class="quiet">${submit}</button>` : submit;
  return postForm(asked, {
    fields: hidden('status', status),
    submit: button,
    ...(action === undefined ? {} : { action }),
  });
}

function acts(detection: WireDetection, asked: Asked): Markup | null {
  const { detection_id } = detection;
  const action = detectionPath(detection_id, 'status');
  const path = trapsApi('detections', detection_id, 'status');
  const body = { status: changes(detection)[0]?.[0] };
  return forWhoMay(
    asked.request,
    'traps:write',
    () => markup`<div class="forms">
${changes(detection).map(([status, submit], at) => statusButton(asked, { status, submit, action, isLesser: at > 0 }))}</div>
${asCurl('curl-status', curlCommand(asked.request, { method: 'POST', path, body }))}`,
  );
}

function sentenceOf({ depth, auth_verified, occurrences }: WireDetection): string {
  const secret =
    auth_verified === null ? '' : auth_verified ? ' The client knew the secret.' : ' The client sent a wrong secret.';
  return `${DEPTH_WORDS[depth].sentence}${secret} ${plural(occurrences, 'use')} so far.`;
}

function facts(detection: WireDetection, call: NameActor, now: Date, request: FastifyRequest): Markup {
  const { credential_id, label, credential_type, plant_location, leaked_between, service, region } = detection;
  const optional: (readonly [string, string | null])[] = [
    ['Service', service],
    ['Region', region],
    ['Event ID at the source', detection.source_event_id],
  ];
  return factList([
    ['Status', statusFact(detection, call, now)],
    ['Severity', severityWord(detection.severity)],
    ['Trap', link(trapPath(credential_id), label)],
    ['Type', TYPE_WORDS[credential_type].title],
    ['Location', PLACE_WORDS[plant_location]],
    ['Depth', DEPTH_WORDS[detection.depth].word],
    ['Secret known', knownWords(detection.auth_verified)],
    ['Leaked after', moment(leaked_between[0], now)],
    ['Leaked before', moment(leaked_between[1], now)],
    ['From', orUnknown(detection.source_ip)],
    ['Client', orUnknown(detection.user_agent)],
    ['Action', orUnknown(detection.action)],
    ['Channel', CHANNEL_WORDS[detection.channel]],
    ...optional.flatMap(([head, value]) => (value === null ? [] : [[head, name(value)] as const])),
    ['First seen', moment(detection.first_seen, now)],
    ['Last seen', moment(detection.last_seen, now)],
    ['Recorded', moment(detection.detected_at, now)],
    ['Alert', alertFact(detection.alert)],
    ['Recorded as', entryFact(detection, request)],
    ['SHA-256 of the first request', digest(detection.request_sha256)],
  ]);
}

function statusFact({ status, acknowledged_by: by, acknowledged_at: at }: WireDetection, call: NameActor, now: Date) {
  const since = by === null || at === null ? null : markup` by ${name(call(by))}, ${moment(at, now)}`;
  return markup`${detectionStatusWord(status)}${since}`;
}

function knownWords(verified: boolean | null): string {
  if (verified === null) return 'unknown';
  return verified ? 'yes' : 'no: the client sent a wrong secret';
}

function entryFact({ entry: { stream_id, sequence } }: WireDetection, request: FastifyRequest): Markup {
  const words = `entry ${grouped(sequence)} of the stream ${stream_id}`;
  return forWhoMay(request, 'audit:read', () => link(trapEntryPath(sequence), words)) ?? markup`${words}`;
}

function occurrences({ occurrences: total, occurrences_kept: kept }: WholeDetection, now: Date): Markup {
  const first = kept.slice(0, SHORT_ROWS);
  const last = kept.slice(SHORT_ROWS).slice(-SHORT_ROWS);
  const left = total - first.length - last.length;
  const more =
    left === 0
      ? null
      : markup`<p class="minor">${plural(left, 'use')} between them ${left === 1 ? 'is' : 'are'} not shown here. The first ${KEPT_OCCURRENCES} and the last ${KEPT_OCCURRENCES} are kept; the API call below returns them.</p>\n`;
  return markup`<h2>${last.length === 0 ? 'Uses' : 'First uses'}</h2>
${occurrenceTable('First uses', first, now)}${more}${last.length === 0 ? null : markup`<h2>Last uses</h2>\n${occurrenceTable('Last uses', last, now)}`}`;
}

function occurrenceTable(caption: string, rows: readonly KeptOccurrence[], now: Date): Markup {
  return dataTable({
    caption,
    columns: [
      { head: 'Use', kind: 'name', cell: ({ number }) => grouped(number) },
      { head: 'Depth', cell: ({ depth }) => DEPTH_WORDS[depth].word },
      { head: 'Action', cell: ({ action }) => orUnknown(action) },
      { head: 'When', cell: ({ event_time }) => moment(event_time, now) },
      { head: 'SHA-256 of the request', cell: ({ request_sha256 }) => digest(request_sha256) },
    ],
    rows,
    empty: emptyState('No uses.'),
  });
}

function idOf(request: FastifyRequest): string {
  return paramsOf<{ detection_id: string }>(request).detection_id;
}
