import type { FastifyInstance } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { hangUpOf } from '../../http/caller.ts';
import { serveOperationList } from '../../operations/list.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { paramsOf } from '../../web/asked.ts';
import { dataTable, digest, emptyState, factList, link, moment, momentLink } from '../../web/components.ts';
import { streamOperations } from '../operations/streams.ts';
import { streamParamsSchema, type WireVerification } from '../wire.ts';
import { checkOutcome, entryRange } from './labels.ts';
import type { AuditPageParts } from './parts.ts';
import { checkPath, streamPath, waysTo } from './paths.ts';

const MAY_READ = { scope: 'audit:read' } as const;

/** Pages of a stream's checks: the form to run one, the list, and the result of one. */
export function pagesOfChecks(server: FastifyInstance, parts: AuditPageParts): void {
  verifyForm(server, parts);
  listPage(server, parts);
  onePage(server, parts);
}

/**
 * Serves the form that runs a check. It requires only the right to read, because a check does not change recorded
 * entries.
 */
function verifyForm(server: FastifyInstance, { service }: AuditPageParts): void {
  const schema = { hide: true, params: streamParamsSchema };
  server.post('/audit/streams/:stream_id/verify', { config: MAY_READ, schema }, async (request, reply) => {
    const { stream_id } = paramsOf<{ stream_id: string }>(request);
    const { verification_id } = await service.verifier.verify(stream_id, hangUpOf(reply));
    return reply.redirect(checkPath(verification_id), 303);
  });
}

function listPage(server: FastifyInstance, { service }: AuditPageParts): void {
  serveOperationList(server, streamOperations(service).listVerifications, {
    path: '/audit/streams/:stream_id/verifications',
    api: '/audit',
    head: ({ stream_id }) => ({
      title: 'Checks',
      above: waysTo(stream_id),
      introduction: 'Results of Verify, newest first. Checks that were changed outside the service are omitted.',
    }),
    table: (checks) => checkTable(checks, service.clock()),
  });
}

function onePage(server: FastifyInstance, { service }: AuditPageParts): void {
  serveOperationPage(server, streamOperations(service).readVerification, {
    path: '/audit/verifications/:verification_id',
    api: '/audit',
    view: (check) => ({
      title: check.verified ? 'No findings' : 'Findings',
      above: [...waysTo(check.stream_id), { title: 'Checks', path: streamPath(check.stream_id, 'verifications') }],
      content: [checkFacts(check, service.clock()), check.verified ? WHAT_IT_MEANS : findings(check)],
    }),
  });
}

export function checkTable(checks: readonly WireVerification[], now: Date): Markup {
  return dataTable({
    caption: 'Checks',
    columns: [
      {
        head: 'Check',
        kind: 'name',
        cell: ({ verification_id, checked_at }) => momentLink(checkPath(verification_id), checked_at, now),
      },
      { head: 'Found', cell: checkOutcome },
      { head: 'Of', cell: ({ from_sequence, to_sequence }) => entryRange(from_sequence, to_sequence) },
    ],
    rows: checks,
    empty: emptyState('No checks.'),
  });
}

function checkFacts(check: WireVerification, now: Date): Markup {
  return factList([
    ['Stream', link(streamPath(check.stream_id), check.stream_id)],
    ['Found', checkOutcome(check)],
    ['Ended', moment(check.checked_at, now)],
    ['Read', `${plural(check.entries_checked, 'entry')}: ${entryRange(check.from_sequence, check.to_sequence)}`],
    ['Last entry’s hash', digest(check.head_hash)],
    ...correctionsOf(check),
  ]);
}

/** Returns the note on entries at which the times go back; none if there are no such entries. */
function correctionsOf({ clock_corrections }: WireVerification): [string, string][] {
  if (clock_corrections === 0) return [];
  const stated = `stated by ${plural(clock_corrections, 'entry')} with the action clock.corrected`;
  return [['Note', `The clock of the platform was set back, as ${stated}. Times before such an entry may be wrong.`]];
}

const WHAT_IT_MEANS = markup`<p>Every hash and seal was recomputed; every link, the head of the stream, its checkpoints and the records of earlier checks match. This result does not cover later entries or later changes.</p>
<p class="minor">Anyone with the database and the master key can make all of it match. Anchors by an external authority and exports stored elsewhere would reveal it.</p>
`;

function findings({ failures, stream_id }: WireVerification): Markup {
  return markup`<h2>${plural(failures.length, 'finding')}</h2>
${dataTable({
  caption: 'Findings',
  columns: [
    { head: 'Code', kind: 'name', cell: ({ code }) => markup`<code>${name(code)}</code>` },
    { head: 'Expected', cell: ({ expected }) => textOf(expected) },
    { head: 'Found', cell: ({ actual }) => textOf(actual) },
    { head: 'Entry', kind: 'number', cell: ({ sequence }) => entryLink(stream_id, sequence) },
  ],
  rows: failures,
  empty: emptyState('No findings.'),
})}<p>Run <code>evidence-platform help tampering</code> for the meaning of each code and the next steps. Expected seals are not shown, because anyone who knew them could forge the row.</p>
`;
}

export function entryLink(streamId: string, sequence: number): Markup | string {
  return sequence < 1 ? grouped(sequence) : link(streamPath(streamId, 'entries', sequence), grouped(sequence));
}

function textOf(value: string | null): Markup {
  return value === null ? markup`<span class="minor">–</span>` : markup`<code>${name(value)}</code>`;
}
