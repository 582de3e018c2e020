import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, type MarkupContent, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { forWhoMay } from '../../web/asked.ts';
import { asCurl, dataTable, emptyState, factList, link, moment, statusWord } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { postForm } from '../../web/fields.ts';
import type { AskedForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { scanOperations } from '../operations/hosts.ts';
import type { WireHost } from '../wire/hosts.ts';
import type { EndpointFinding, endpointVerificationSchema } from '../wire/reports.ts';
import type { EndpointPageParts } from './parts.ts';
import { aboveHost, ENDPOINTS_API, endpointsApi, hostPath, hostStreamPath } from './paths.ts';

const READS =
  'Verification recomputes each report from its lines, checks its signature and its link to the previous report, and compares the results with the audit stream.';

/** Serves the check of an endpoint's reports against their signatures, their lines and the audit stream. */
export function verifyPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  serveOperationForm(server, scanOperations(service).verifyHost, {
    path: '/endpoints/hosts/:endpoint_id/verify',
    api: ENDPOINTS_API,
    schema: z.object({}),
    subject: ({ endpoint_id }) => service.hosts.find(endpoint_id),
    view: (_asked, host) => ({
      title: `Verify the reports of ${host.name}`,
      isNarrow: true,
      above: aboveHost(host),
      introduction: READS,
      fields: null,
      submit: 'Verify now',
    }),
    done: (verification, host, request) => verified(host, verification, request, clock()),
  });
}

function verified(
  host: WireHost,
  verification: z.output<typeof endpointVerificationSchema>,
  request: FastifyRequest,
  now: Date,
): PageView {
  const { findings, checked_at, reports_checked, roots_checked } = verification;
  const isRight = findings.length === 0;
  const word = isRight ? statusWord('good', 'Verified') : statusWord('bad', 'Verification failed');
  return {
    title: isRight ? 'The reports are unchanged' : 'The reports were changed',
    above: aboveHost(host),
    introduction: 'As of now. Findings are shown only once.',
    content: [
      markup`<div class="verdict ${isRight ? 'verified' : 'failed'}"><p class="state">${word}</p>
${ofStream(host, request)}</div>\n`,
      factList([
        ['Checked', moment(checked_at, now)],
        ['Reports', grouped(reports_checked)],
        ['Line sets hashed again', grouped(roots_checked)],
        ['Findings', grouped(findings.length)],
      ]),
      isRight ? null : findingTable(findings),
    ],
    api: verifyCall(host),
  };
}

function verifyCall({ endpoint_id }: WireHost) {
  return { method: 'POST', path: endpointsApi('hosts', endpoint_id, 'verify') } as const;
}

/** Renders the form that runs a check, for the page of an endpoint. */
export function verifyForm(host: WireHost, asked: Omit<AskedForm, 'form'>, now: Date): Markup {
  const form = postForm(asked, { action: hostPath(host.endpoint_id, 'verify'), fields: null, submit: 'Verify now' });
  return markup`<div class="verdict"><p>${READS}</p>
<p>${lastCheck(host.last_check, now)}</p>
${form}<p class="minor">Reports are not verified automatically. The more reports there are, the longer verification takes.</p>
${asCurl('curl-verify', curlCommand(asked.request, verifyCall(host)))}</div>
`;
}

function lastCheck(check: WireHost['last_check'], now: Date): MarkupContent {
  if (check === null) return 'The reports were never verified.';
  const { checked_at, verified, reports_checked, findings } = check;
  const word = verified ? statusWord('good', 'verified') : statusWord('bad', plural(findings, 'finding'));
  return markup`Last verified ${moment(checked_at, now)}, ${plural(reports_checked, 'report')}: ${word}`;
}

/** Renders the reminder that findings are only as reliable as the stream that they were compared with. */
function ofStream({ endpoint_id }: WireHost, request: FastifyRequest): Markup | null {
  return forWhoMay(
    request,
    'audit:read',
    () =>
      markup`<p>The reports were compared with ${link(hostStreamPath(endpoint_id), 'the audit stream of the endpoint')}, which is verified separately.</p>\n`,
  );
}

function findingTable(findings: readonly EndpointFinding[]): Markup {
  return dataTable({
    caption: 'Findings',
    columns: [
      { head: 'Report', kind: 'name', cell: reportCell },
      { head: 'Finding', kind: 'short', cell: ({ code }) => markup`<code>${code}</code>` },
      { head: 'Problem', cell: ({ message }) => name(message) },
    ],
    rows: findings,
    empty: emptyState('No findings.'),
  });
}

function reportCell({ chain, sequence }: EndpointFinding): string {
  const of = `chain ${grouped(chain)}`;
  return sequence === null ? of : `${grouped(sequence)} of ${of}`;
}
