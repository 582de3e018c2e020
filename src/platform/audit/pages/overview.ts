import type { FastifyInstance } from 'fastify';
import { barChart, columnChart } from '../../../core/html/charts.ts';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { agree, grouped, plural } from '../../../core/plurals.ts';
import { hangUpOf } from '../../http/caller.ts';
import { asCurl, factList, link, moment, momentOr, type StatusTone, type TileView } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import type { OverviewOfModule, TimelineEvent } from '../../web/overview.ts';
import { withQuery } from '../../web/own-path.ts';
import type { AuditService } from '../service.ts';
import type { Overview } from '../stats.ts';
import type { AuditActivity, WireStats } from '../wire/stats.ts';
import { CHECKS_CHANGED, misfitOf } from './labels.ts';
import type { AuditPageParts } from './parts.ts';
import { AUDIT_PATH, checkPath, streamPath, waysTo } from './paths.ts';

/** Returns the overview of audit evidence: its present state and recent failures. */
export async function auditOverview({ readers, clock }: AuditService, signal: AbortSignal): Promise<OverviewOfModule> {
  const now = clock();
  const overview = await readers.read('overview', now, signal);
  return { tile: tileOf(overview, now), events: eventsOf(overview) };
}

function tileOf(overview: Overview, now: Date): TileView {
  const { tone, word, next } = verdictOf(overview);
  return {
    title: 'Audit evidence',
    tone,
    word,
    content: factList([
      ['What', what(overview)],
      ['Since', since(overview, now)],
      ['Last check of a stream', momentOr(overview.last_checked_at, now, 'never')],
    ]),
    next,
  };
}

interface Verdict {
  tone: StatusTone;
  word: string;
  next: { title: string; path: string };
}

/** Returns the verdict, worst first. Nothing unchecked is called good. */
function verdictOf(overview: Overview): Verdict {
  const { streams, failed, told, unrecorded, new_streams, pending, stale, missing_streams, checks_changed } = overview;
  const at = (title: string, path: string) => ({ title, path });
  const known = at('See the statistics', `${AUDIT_PATH}/statistics`);
  if (missing_streams === null) return { tone: 'bad', word: 'Problems found', next: known };
  if (missing_streams > 0) return { tone: 'bad', word: 'Streams are missing', next: known };
  const [first] = told;
  if (first !== undefined) {
    const list = withQuery(AUDIT_PATH, { verification_status: 'failed' });
    const next = failed > 1 ? at('See the streams', list) : at('See the findings', checkPath(first.verification_id));
    return { tone: 'bad', word: 'Problems found', next };
  }
  if (checks_changed !== false) return { tone: 'bad', word: 'Problems found', next: at('See the streams', AUDIT_PATH) };
  if (streams === 0) return { tone: 'neutral', word: 'No entries yet', next: at('Record the first entry', AUDIT_PATH) };
  const [stamp] = pending;
  if (stamp !== undefined)
    return {
      tone: 'warning',
      word: 'Time stamps are missing',
      next: at('See the oldest', streamPath(stamp.stream_id, 'checkpoints')),
    };
  const verify = at('Choose a stream and verify it', AUDIT_PATH);
  if (unrecorded > new_streams || stale > 0) return { tone: 'warning', word: 'Not fully verified', next: verify };
  if (unrecorded > 0) return { tone: 'neutral', word: 'Not verified yet', next: verify };
  return { tone: 'good', word: 'No findings', next: at('See the streams', AUDIT_PATH) };
}

function what(overview: Overview): string {
  const { streams, failed, unrecorded, new_streams, pending, stale, recent, missing_streams, checks_changed } =
    overview;
  const old = Math.max(0, unrecorded - new_streams);
  const facts = [
    ...(missing_streams === null ? ['the count of streams was changed outside the platform'] : []),
    ...(missing_streams ? [`${plural(missing_streams, 'stream')} removed outside the platform`] : []),
    ...(failed > 0 ? [`${plural(failed, 'stream')} failed at the last check`] : []),
    ...(checks_changed ? [CHECKS_CHANGED] : []),
    ...(pending.length > 0 ? [`${plural(pending.length, 'checkpoint')} without a time stamp`] : []),
    ...(old > 0 ? [`${plural(old, 'stream')} without a record of a check`] : []),
    ...(unrecorded > old
      ? [`${plural(unrecorded - old, 'stream')} of the last 24 hours without a record of a check`]
      : []),
    ...(stale > 0
      ? [`${plural(stale, 'stream')} with entries after ${agree(stale, 'its', 'their')} last check, over 24 hours ago`]
      : []),
  ];
  if (facts.length === 0 && recent === 0) return `${plural(streams, 'stream')}, checked up to the last entry of each`;
  const since = recent === 0 ? [] : [`${plural(recent, 'entry')} after checks of the last 24 hours`];
  return [...(facts.length === 0 ? [`${plural(streams, 'stream')}, each checked`] : facts), ...since].join('; ');
}

/** Returns the time at which the state became known; the change that a check found may be much older. */
function since({ told, missing_streams, checks_changed, pending }: Overview, now: Date): Markup | string {
  const found = told.at(-1);
  if (found !== undefined) return markup`found on ${moment(found.checked_at, now)}`;
  if (missing_streams !== 0 || checks_changed !== false) return 'unknown';
  const [stamp] = pending;
  return stamp === undefined ? 'no known problems' : moment(stamp.created_at, now);
}

/** Returns the failed checks and pending checkpoints as events. */
function eventsOf({ told, pending }: Overview): TimelineEvent[] {
  return [
    ...told.map(({ stream_id, verification_id, checked_at }) => ({
      at: checked_at,
      tone: 'bad' as const,
      words: markup`Verify found that ${link(streamPath(stream_id), stream_id)} was changed. ${link(checkPath(verification_id), 'See the findings')}`,
    })),
    ...pending.map(({ stream_id, sequence, created_at }) => ({
      at: created_at,
      tone: 'warning' as const,
      words: markup`The checkpoint of ${link(streamPath(stream_id), stream_id)} at entry ${grouped(sequence)} has no time stamp yet.`,
    })),
  ];
}

const CALLS = ['/audit/stats/', '/audit/stats/activity'];

/** Serves the page of numbers and charts over all streams. */
export function statisticsPage(server: FastifyInstance, { service }: AuditPageParts): void {
  const options = { config: { scope: 'audit:read' }, schema: { hide: true } } as const;
  server.get('/audit/statistics', options, async (request, reply) => {
    const { readers, clock } = service;
    const signal = hangUpOf(reply);
    const stats = await readers.read('stats', clock(), signal);
    const activity = await readers.read('activity', clock(), signal);
    return reply.page({
      title: 'Statistics',
      above: waysTo(null),
      introduction: 'Current numbers. They do not show whether entries were changed; run Verify for that.',
      content: [
        misfitOf(stats),
        numbers(stats),
        charts(stats, activity),
        asCurl('curl', CALLS.map((path) => curlCommand(request, { path })).join('\n')),
      ],
    });
  });
}

function numbers(stats: WireStats): Markup {
  return factList([
    ['Streams', grouped(stats.streams)],
    ['Entries', grouped(stats.entries)],
    ['Entries of this hour and the 24 before', grouped(stats.entries_24h)],
    ['Checkpoints', grouped(stats.checkpoints)],
    ['Checkpoints without a time stamp', grouped(stats.pending_anchors)],
    ['Evidence packages', grouped(stats.evidence_packages)],
  ]);
}

function charts(stats: WireStats, { days, streams }: AuditActivity): Markup {
  const states = [
    { label: 'verified at their last check', count: stats.verified_streams },
    { label: 'failed at their last check', count: stats.failed_streams },
    { label: 'no check on record', count: stats.unverified_streams },
  ];
  const times = days.map(({ day, entries }) => ({ label: day, count: entries }));
  const names = streams.map(({ stream_id, entries }) => ({ label: stream_id, count: entries }));
  return markup`<div class="charts">
${columnChart({ title: 'Entries recorded per day, in UTC', bars: times, notes: [] })}${
  names.length === 0
    ? null
    : barChart({
        title: 'Entries by stream',
        bars: names,
        notes: ['At most twelve streams, those with the most entries.'],
      })
}${barChart({ title: 'Streams', bars: states, notes: [] })}</div>
`;
}
