import type { FastifyInstance } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { serveOperationList } from '../../operations/list.ts';
import { paramsOf } from '../../web/asked.ts';
import { dataTable, digest, emptyState, moment } from '../../web/components.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import { streamOperations } from '../operations/streams.ts';
import { streamParamsSchema, type WireCheckpoint } from '../wire.ts';
import { entryLink } from './checks.ts';
import { anchorWords, DEVELOPMENT_WARNING } from './labels.ts';
import type { AuditPageParts } from './parts.ts';
import { streamPath, waysTo } from './paths.ts';

/** Pages of a stream's checkpoints: the list with their authorities, and the form for a new one. */
export function pagesOfCheckpoints(server: FastifyInstance, { service }: AuditPageParts): void {
  const path = '/audit/streams/:stream_id/checkpoints';
  const schema = { hide: true, params: streamParamsSchema };

  serveOperationList(server, streamOperations(service).listCheckpoints, {
    path,
    api: '/audit',
    head: ({ stream_id }) => ({
      title: 'Checkpoints',
      above: waysTo(stream_id),
      introduction: 'The head of the stream at one time, with a time stamp over its hash. Oldest first.',
    }),
    table: (checkpoints, _shown, { stream_id }) => [
      developmentWarning(checkpoints),
      checkpointTable(checkpoints, stream_id, service.clock()),
    ],
  });

  server.post(path, { config: { scope: 'audit:write' }, schema }, async (request, reply) => {
    const { stream_id } = paramsOf<{ stream_id: string }>(request);
    const { checkpoint, repeated } = await service.checkpoints.create(stream_id);
    leaveNotice(reply, noticeOf(checkpoint, repeated));
    return reply.redirect(streamPath(stream_id), 303);
  });
}

function noticeOf({ sequence, anchor }: WireCheckpoint, repeated: boolean): string {
  const what = `${repeated ? 'There is already' : 'Created'} a checkpoint at entry ${grouped(sequence)}`;
  if (anchor.status !== 'anchored')
    return `${what}. The authority has not stamped it yet; the platform retries every minute.`;
  return `${what}, stamped by ${anchor.authority === 'external' ? 'the external authority' : 'the development authority, which is not an independent witness'}.`;
}

export function developmentWarning(checkpoints: readonly WireCheckpoint[]): Markup | null {
  if (!checkpoints.some(({ anchor }) => anchor.authority === 'development')) return null;
  return markup`<p class="minor">${DEVELOPMENT_WARNING}</p>\n`;
}

export function checkpointTable(checkpoints: readonly WireCheckpoint[], streamId: string, now: Date): Markup {
  return dataTable({
    caption: 'Checkpoints',
    columns: [
      { head: 'Up to entry', kind: 'name', cell: ({ sequence }) => entryLink(streamId, sequence) },
      { head: 'Authority', cell: (checkpoint) => anchorWords(checkpoint, now) },
      { head: 'Address', cell: ({ anchor }) => markup`<code>${name(anchor.tsa_url ?? '–')}</code>` },
      { head: 'Created', cell: ({ created_at }) => moment(created_at, now) },
      { head: 'Hash', cell: ({ hash }) => digest(hash) },
    ],
    rows: checkpoints,
    empty: emptyState('No checkpoints.'),
  });
}
