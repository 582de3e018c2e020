import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { severityWord } from '../../alerts/api.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, asCurl, dataTable, digest, emptyState, factList, further, link } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { cursorSchema, servePage } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { section } from '../../web/sections.ts';
import type { Baselines } from '../baselines.ts';
import { baselineOperations } from '../operations/baselines.ts';
import { baselineParamsSchema, type WireBaseline, type WireDifference } from '../wire/baselines.ts';
import { baselineStatusWord, byWhom, decisionFacts, EVENT_WORDS } from './labels.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts, SEES_ENDPOINTS } from './parts.ts';
import { ABOVE_BASELINES, aboveHost, baselinePath, ENDPOINTS_API, endpointsApi } from './paths.ts';
import { completeWord } from './scans.ts';
import { notUtf8, pathLine } from './shown-path.ts';
import { kindWord } from './sides.ts';

type Difference = Awaited<ReturnType<Baselines['difference']>>;

/** Serves the page of a baseline: its changes, who made it, and who approved it. */
export function baselinePage(server: FastifyInstance, { service, people, clock }: EndpointPageParts): void {
  servePage(server, {
    path: '/endpoints/baselines/:baseline_id',
    access: SEES_ENDPOINTS,
    params: baselineParamsSchema,
    query: cursorSchema,
    async view({ request, params: { baseline_id }, query: { cursor } }) {
      const baseline = await service.baselines.find(baseline_id);
      const difference = await service.baselines.difference(baseline_id, { limit: LIST_ROWS, cursor });
      const host = await service.hosts.find(baseline.endpoint_id);
      const nameActor = await namesOfActors(people, [baseline.made_by, baseline.decided_by]);
      return {
        title: `${baseline.name}, version ${grouped(baseline.version)}`,
        above: aboveHost(host),
        introduction: INTRODUCTIONS[baseline.status],
        content: [
          facts(baseline, nameActor, clock()),
          section(headOf(baseline, difference), differences(baseline_id, cursor, difference)),
          asCurl('curl', curlCommand(request, { path: endpointsApi('baselines', baseline_id, 'difference') })),
          decide(baseline, request),
        ],
      };
    },
  });
}

const INTRODUCTIONS: Record<WireBaseline['status'], string> = {
  proposed: 'Proposed: scans are not compared with this baseline. Review the differences, then approve or reject it.',
  active: 'Active: scans are compared with this baseline.',
  superseded: 'Another baseline replaced this one.',
  rejected: 'Rejected: scans were never compared with this baseline.',
};

function facts(baseline: WireBaseline, call: NameActor, now: Date): Markup {
  const { made_by, made_at, decided_by, decided_at, decided_reason, reason } = baseline;
  const word = baseline.status === 'rejected' ? 'Rejected' : 'Approved';
  return factList([
    ['Status', baselineStatusWord(baseline.status)],
    ['Lines', grouped(baseline.line_count)],
    ['Complete', completeWord(baseline.complete)],
    [baseline.origin === 'scan' ? 'Proposed' : 'Registered', byWhom(call(made_by), made_at, now)],
    reason === null ? null : ['Reason for the proposal', name(reason)],
    ...decisionFacts(word, { by: decided_by, at: decided_at, why: decided_reason }, call, now),
    ['Folders', markup`<code>${name(baseline.roots.join(' '))}</code>`],
    ['Root of its lines', digest(baseline.root_hash)],
  ]);
}

function headOf({ status }: WireBaseline, { compared_with: before }: Difference): Markup {
  if (before === null) return markup`All of its content: there is no previous baseline`;
  const version = link(baselinePath(before.baseline_id), `version ${grouped(before.version)}`);
  return status === 'proposed'
    ? markup`Differences from the active baseline, ${version}`
    : markup`Differences from the previous baseline, ${version}`;
}

function differences(baselineId: string, cursor: string | undefined, { data, next_cursor }: Difference): Markup {
  const table = dataTable({
    caption: 'Differences',
    columns: [
      { head: 'Path', kind: 'name', cell: (row) => markup`${name(pathLine(row))}${notUtf8(row)}` },
      { head: 'What', cell: ({ event_type }) => EVENT_WORDS[event_type].word },
      { head: 'Event severity', cell: ({ severity }) => severityWord(severity) },
      { head: 'Before', kind: 'short', cell: ({ expected }) => sideCell(expected) },
      { head: 'After', kind: 'short', cell: ({ observed }) => sideCell(observed) },
    ],
    rows: data,
    empty: emptyState('No differences.'),
  });
  return markup`${table}${further(baselinePath(baselineId), { cursor }, next_cursor)}`;
}

/** Renders a line in short: digest and permissions of a file, or the kind of anything else. */
function sideCell(line: WireDifference['expected']): Markup {
  if (line === null) return markup`<span class="minor">nothing</span>`;
  const { type, sha256, mode, uid, gid } = line;
  const owners = mode === undefined ? '' : `${mode} ${uid}:${gid}`;
  const what = typeof sha256 === 'string' ? digest(sha256) : kindWord(String(type));
  return markup`${what} <code>${name(owners)}</code>`;
}

function decide({ baseline_id, status }: WireBaseline, request: FastifyRequest): Markup | null {
  if (status !== 'proposed') return null;
  return forWhoMay(request, 'endpoints:write', () =>
    section(
      'Decision',
      markup`<p>By approving, you confirm that all of this content is intended. If several people may approve, the proposer cannot. You are asked to authenticate again.</p>
<p class="acts">${action(baselinePath(baseline_id, 'approve'), 'Approve')}${action(baselinePath(baseline_id, 'reject'), 'Reject', 'quiet')}</p>\n`,
    ),
  );
}

const ACTS = [
  {
    path: 'approve',
    operation: 'approveBaseline',
    // An approved file no longer raises events, so approval requires a fresh authentication.
    access: { ...CHANGES_ENDPOINTS, proved: true },
    introduction:
      'Scans are compared with this baseline from now on, starting with the last one. Its content no longer raises events.',
    submit: 'Approve',
    done: 'The baseline is active.',
  },
  {
    path: 'reject',
    operation: 'rejectBaseline',
    access: CHANGES_ENDPOINTS,
    introduction: 'Scans will not be compared with this baseline. The active baseline stays.',
    submit: 'Reject',
    done: 'The baseline is rejected.',
  },
] as const;

/** Pages for the acts on a proposed baseline. */
export function baselineActPages(server: FastifyInstance, { service }: EndpointPageParts): void {
  const operations = baselineOperations(service);
  for (const { path, operation, access, introduction, submit, done } of ACTS)
    serveOperationAct(server, operations[operation], {
      path: `/endpoints/baselines/:baseline_id/${path}`,
      api: ENDPOINTS_API,
      access,
      subject: ({ baseline_id }) => service.baselines.find(baseline_id),
      view({ baseline_id, name, version }) {
        const title = `${name}, version ${grouped(version)}`;
        const back = baselinePath(baseline_id);
        const above = [...ABOVE_BASELINES, { title, path: back }];
        return { title: `${submit.split(' ', 1)[0]} ${title}`, above, introduction, submit, back };
      },
      notice: () => done,
    });
}
