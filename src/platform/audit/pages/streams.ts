import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { hangUpOf } from '../../http/caller.ts';
import { copyable, dataTable, digest, emptyState, further, link, momentOr } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { filterField, filterForm, filterSelect } from '../../web/filters.ts';
import { withQuery } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { lastCheckpoints } from '../checkpoint-rows.ts';
import { listStreams } from '../list.ts';
import type { WireStats } from '../wire/stats.ts';
import { isOwnStream, type StreamsQuery, streamsQuerySchema, type WireCheckpoint, type WireStream } from '../wire.ts';
import { anchorWords, misfitOf, reachWords, stateOf } from './labels.ts';
import type { AuditPageParts } from './parts.ts';
import { AUDIT_PATH, ENTRIES_PATH, streamPath } from './paths.ts';

/** Serves the list of streams with the results of their last checks. */
export function streamsPage(server: FastifyInstance, { service }: AuditPageParts): void {
  servePage(server, {
    path: '/audit',
    access: { scope: 'audit:read' },
    query: streamsQuerySchema,
    async view({ request, reply, query }) {
      const { database, seals, clock, readers } = service;
      const stats = await readers.read('stats', clock(), hangUpOf(reply));
      const { data, next_cursor } = await listStreams(database, seals, { ...query, limit: LIST_ROWS });
      const ids = data.map(({ stream_id }) => stream_id);
      const checkpoints = await lastCheckpoints(database, seals, ids);
      const asked = { begins_with: query.begins_with, verification_status: query.verification_status };
      return {
        title: 'Audit',
        introduction:
          'A stream is shown as verified as of its last successful Verify. Streams are not verified automatically.',
        content: [
          misfitOf(stats),
          summary(stats),
          search(query),
          streamTable(data, checkpoints, service.clock()),
          isAll(query) && data.every(({ stream_id }) => isOwnStream(stream_id)) ? firstEntry(request) : null,
          further(AUDIT_PATH, { ...asked, cursor: query.cursor }, next_cursor),
        ],
        api: { path: withQuery('/audit/streams/', asked) },
      };
    },
  });
}

function summary(stats: WireStats): Markup {
  const { streams, entries, verified_streams, failed_streams, unverified_streams } = stats;
  const failed = link(withQuery(AUDIT_PATH, { verification_status: 'failed' }), `${grouped(failed_streams)} failed`);
  return markup`<p>${plural(streams, 'stream')}, ${plural(entries, 'entry')}. At the last check of each: ${grouped(verified_streams)} verified, ${failed_streams === 0 ? '0 failed' : failed}, ${grouped(unverified_streams)} without a record of a check. ${link(ENTRIES_PATH, 'Entries of all streams')} ${link(`${AUDIT_PATH}/statistics`, 'Statistics')}</p>
`;
}

function search({ begins_with, verification_status }: StreamsQuery): Markup {
  return filterForm(AUDIT_PATH, { begins_with, verification_status }, [
    filterField({ name: 'begins_with', label: 'ID begins with', value: begins_with }),
    filterSelect({ verification_status }, ['verification_status', 'Last check'], STATES, (state) => STATE_WORDS[state]),
  ]);
}

const STATES = ['failed', 'unverified', 'stale', 'verified'] as const;
const STATE_WORDS = {
  failed: 'failed',
  unverified: 'no check on record',
  stale: 'entries came after it',
  verified: 'verified',
} as const;

function isAll({ begins_with, verification_status, cursor }: StreamsQuery): boolean {
  return !begins_with && verification_status === undefined && cursor === undefined;
}

function streamTable(
  streams: readonly WireStream[],
  checkpoints: ReadonlyMap<string, WireCheckpoint>,
  now: Date,
): Markup {
  return dataTable({
    caption: 'Streams',
    columns: [
      { head: 'Stream', kind: 'name', cell: ({ stream_id }) => link(streamPath(stream_id), stream_id) },
      { head: 'Last check', cell: (stream) => stateCell(stream, now) },
      { head: 'Last checkpoint', cell: ({ stream_id }) => checkpointCell(checkpoints.get(stream_id), now) },
      { head: 'Last entry', cell: ({ last_entry_at }) => momentOr(last_entry_at, now, 'none') },
      { head: 'Entries', kind: 'number', cell: ({ entry_count }) => grouped(entry_count) },
      { head: 'Head', cell: ({ head_hash }) => digest(head_hash) },
    ],
    rows: streams,
    empty: emptyState('No streams match.'),
  });
}

function stateCell(stream: WireStream, now: Date): Markup {
  if (stream.last_checked_at === null) return stateOf(stream);
  const wrong = stream.verification_status === 'failed' ? 'wrong ' : '';
  return markup`${stateOf(stream)} ${momentOr(stream.last_checked_at, now, '')} <span class="minor">${wrong}${reachWords(stream)}</span>`;
}

function checkpointCell(checkpoint: WireCheckpoint | undefined, now: Date): Markup {
  if (checkpoint === undefined) return markup`<span class="minor">none</span>`;
  return markup`${anchorWords(checkpoint, now)} <span class="minor">up to entry ${grouped(checkpoint.sequence)}</span>`;
}

const FIRST_ENTRY = {
  stream_id: 'payments',
  actor: 'alice',
  action: 'payment.approved',
  resource_type: 'payment',
  resource_id: 'p-1',
};

function firstEntry(request: FastifyRequest): Markup {
  const command = curlCommand(request, { method: 'POST', path: '/audit/entries/', body: FIRST_ENTRY });
  const text = 'No entries yet. The first entry of a stream creates it:';
  return emptyState(text, copyable('first-entry', 'The first entry, as an API call', command));
}
