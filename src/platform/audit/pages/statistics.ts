import type { FastifyInstance } from 'fastify';
import { barChart, columnChart } from '../../../core/html/charts.ts';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { hangUpOf } from '../../http/caller.ts';
import { asCurl, factList } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import type { AuditActivity, WireStats } from '../wire.ts';
import { misfitOf } from './labels.ts';
import type { AuditPageParts } from './parts.ts';
import { waysTo } from './paths.ts';

const CALLS = ['/audit/stats/', '/audit/stats/activity'];

/** Numbers and charts over all streams. */
export function statisticsPage(server: FastifyInstance, { service }: AuditPageParts): void {
  const options = { config: { scope: 'audit:read' }, schema: { hide: true } } as const;
  server.get('/audit/statistics', options, async (request, reply) => {
    const { readers, clock } = service;
    const signal = hangUpOf(reply);
    const stats = await readers.stats(clock(), signal);
    const activity = await readers.activity(clock(), signal);
    return reply.page({
      title: 'Statistics',
      above: waysTo(null),
      introduction: 'As they are now. They say nothing of whether something was changed: Verify does.',
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
    ['Entries of the last 24 hours', grouped(stats.entries_24h)],
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
  const first = days[0]?.day ?? '';
  return markup`<div class="charts">
${columnChart({ title: 'Entries recorded a day, in UTC', bars: times, notes: [] })}${
  names.length === 0
    ? null
    : barChart({
        title: `Entries since ${first}, by stream`,
        bars: names,
        notes: ['At most the twelve streams with the most.'],
      })
}${barChart({ title: 'Streams', bars: states, notes: [] })}</div>
`;
}
