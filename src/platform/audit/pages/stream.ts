import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Markup, type MarkupContent, markup } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, asCurl, digest, emptyState, factList, link, momentOr } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { postForm } from '../../web/fields.ts';
import { SHORT_ROWS } from '../../web/rows.ts';
import { lastCheckpoints } from '../checkpoint-rows.ts';
import { streamOperations } from '../operations/streams.ts';
import { listPackages } from '../packages.ts';
import { lastEntries } from '../repository.ts';
import { entryToWire } from '../rules.ts';
import type { AuditService } from '../service.ts';
import { listVerifications } from '../verifications.ts';
import type { WireCheckpoint, WireStream } from '../wire.ts';
import { checkpointTable, developmentWarning } from './checkpoints.ts';
import { checkTable } from './checks.ts';
import { entryTable } from './entries.ts';
import { checkedWords, stateOf } from './labels.ts';
import { packageTable } from './packages.ts';
import type { AuditPageParts } from './parts.ts';
import { streamApi, streamPath, waysTo } from './paths.ts';

const FEW = { limit: SHORT_ROWS };

/** Serves the page of a stream: its state, and its newest entries, checks, checkpoints and packages. */
export function streamPage(server: FastifyInstance, { service }: AuditPageParts): void {
  serveOperationPage(server, streamOperations(service).readStream, {
    path: '/audit/streams/:stream_id',
    api: '/audit',
    async view(stream, asked) {
      const { stream_id } = stream;
      const now = service.clock();
      const newest = await newestOf(service, stream_id, asked);
      return {
        title: stream_id,
        above: waysTo(null),
        content: [state(stream, now, asked), facts(stream, now), newest],
      };
    },
  });
}

async function newestOf(service: AuditService, streamId: string, asked: Asked): Promise<Markup[]> {
  const { database, seals } = service;
  const now = service.clock();
  const entries = await lastEntries(database, streamId, FEW);
  const checks = await listVerifications(database, seals, streamId, FEW);
  const checkpoints = [...(await lastCheckpoints(database, seals, [streamId])).values()];
  const packages = await listPackages(database, streamId, FEW);
  return [
    section(
      streamId,
      'entries',
      ['Newest entries', 'All entries'],
      entryTable(entries.map(entryToWire), now, { hasStream: false, empty: emptyState('No entries yet.') }),
    ),
    section(streamId, 'verifications', ['Last checks', 'All checks'], checkTable(checks.data, now)),
    section(
      streamId,
      'checkpoints',
      ['Last checkpoint', 'All checkpoints'],
      [
        developmentWarning(checkpoints),
        checkpointTable(checkpoints, streamId, now),
        newCheckpoint(streamId, checkpoints, asked),
      ],
    ),
    section(
      streamId,
      'packages',
      ['Evidence packages', 'All packages'],
      [packageTable(packages.data, now), forWhoMay(asked.request, 'audit:export', () => newPackage(streamId))],
    ),
  ];
}

interface Asked {
  request: FastifyRequest;
  reply: FastifyReply;
}

function state(stream: WireStream, now: Date, asked: Asked): Markup {
  const { stream_id } = stream;
  const verify = { method: 'POST', path: streamApi(stream_id, 'verify') } as const;
  return markup`<div class="verdict ${stream.verification_status}"><p class="state">${stateOf(stream)}</p>
<p>${checkedWords(stream, now)}</p>
${postForm(asked, { action: streamPath(stream_id, 'verify'), fields: null, submit: 'Verify now' })}<p class="minor">Verify reads all entries and records the result. The duration depends on the number of entries.</p>
${asCurl('curl-verify', curlCommand(asked.request, verify))}</div>
`;
}

function facts(stream: WireStream, now: Date): Markup {
  const { entry_count, head_hash, head_sequence, created_at, last_entry_at } = stream;
  return factList([
    ['Entries', grouped(entry_count)],
    ['Last entry', markup`${grouped(head_sequence)}, ${momentOr(last_entry_at, now, 'none')}`],
    ['Started', momentOr(created_at, now, 'never')],
    ['Head', digest(head_hash)],
  ]);
}

function section(streamId: string, below: string, [title, all]: [string, string], content: MarkupContent): Markup {
  return markup`<h2>${title}</h2>
<div class="lesser">${content}</div>
<p class="further">${link(streamPath(streamId, below), all)}</p>
`;
}

function newCheckpoint(streamId: string, checkpoints: readonly WireCheckpoint[], asked: Asked): Markup | null {
  const path = streamPath(streamId, 'checkpoints');
  const submit = checkpoints.length === 0 ? 'Create the first checkpoint' : 'Create a checkpoint';
  return forWhoMay(asked.request, 'audit:write', () => postForm(asked, { action: path, fields: null, submit }));
}

function newPackage(streamId: string): Markup {
  return markup`<p class="acts">${action(streamPath(streamId, 'packages', 'new'), 'Generate a package')}</p>\n`;
}
