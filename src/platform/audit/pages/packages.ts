import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { hangUpOf } from '../../http/caller.ts';
import { text } from '../../http/fields.ts';
import { serveOperationList } from '../../operations/list.ts';
import { paramsOf } from '../../web/asked.ts';
import { dataTable, digest, emptyState, factList, link, moment, momentLink, utcTime } from '../../web/components.ts';
import { field, postForm } from '../../web/fields.ts';
import { formTime } from '../../web/form-time.ts';
import { type AskedForm, serveForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { servePage } from '../../web/page.ts';
import { streamOperations } from '../operations/streams.ts';
import { PACKAGE_FORMS, sendPackage } from '../packages.ts';
import { findStream } from '../streams.ts';
import { packageParamsSchema, type WireGenerated, type WireSummary } from '../wire.ts';
import { entryRange } from './labels.ts';
import type { AuditPageParts } from './parts.ts';
import { packagePath, streamPath, waysTo } from './paths.ts';

const MAY_READ = { scope: 'audit:read' } as const;

/** Pages of evidence packages: those of a stream, one with its downloads, and the form for a new one. */
export function pagesOfPackages(server: FastifyInstance, parts: AuditPageParts): void {
  listPage(server, parts);
  onePage(server, parts);
  newPage(server, parts);
}

function listPage(server: FastifyInstance, { service }: AuditPageParts): void {
  serveOperationList(server, streamOperations(service).listPackages, {
    path: '/audit/streams/:stream_id/packages',
    api: '/audit',
    head: ({ stream_id }) => ({ title: 'Evidence packages', above: waysTo(stream_id) }),
    table: (packages) => packageTable(packages, service.clock()),
  });
}

export function packageTable(packages: readonly WireGenerated[], now: Date): Markup {
  return dataTable({
    caption: 'Evidence packages',
    columns: [
      {
        head: 'Generated',
        kind: 'name',
        cell: ({ package_id, created_at }) => momentLink(packagePath(package_id), created_at, now),
      },
      { head: 'Entries', kind: 'number', cell: ({ entry_count }) => grouped(entry_count) },
    ],
    rows: packages,
    empty: emptyState('No packages.'),
  });
}

function onePage(server: FastifyInstance, { service }: AuditPageParts): void {
  servePage(server, {
    path: '/audit/packages/:package_id',
    access: MAY_READ,
    params: packageParamsSchema,
    async view({ params: { package_id } }) {
      const row = await service.evidence.find(package_id);
      const summary = JSON.parse(row.summary) as WireSummary;
      const { title, created_at, stream_id } = row;
      return {
        title,
        above: [...waysTo(stream_id), { title: 'Packages', path: streamPath(stream_id, 'packages') }],
        content: [
          packageFacts(summary, moment(created_at, service.clock())),
          downloads(package_id),
          limitations(summary),
        ],
        api: { path: `/audit/evidence/${package_id}/json` },
      };
    },
  });

  const form = packageParamsSchema.extend({ form: z.enum(PACKAGE_FORMS) });
  const ofForm = { config: MAY_READ, schema: { hide: true, params: form } };
  server.get('/audit/packages/:package_id/:form', ofForm, (request, reply) => {
    const { package_id, form } = paramsOf<z.infer<typeof packageParamsSchema> & { form: 'json' }>(request);
    return sendPackage(service, package_id, form, reply);
  });
}

function packageFacts(summary: WireSummary, generated: Markup): Markup {
  const { stream_id, first_sequence, last_sequence, entry_count, head_hash, period } = summary;
  const between =
    period === null
      ? 'all entries'
      : markup`from ${period.from === null ? 'the beginning' : utcTime(period.from)} to ${period.to === null ? 'the end' : utcTime(period.to)}`;
  return factList([
    ['Stream', link(streamPath(stream_id), stream_id)],
    ['Generated', generated],
    [
      'Contents',
      `${plural(entry_count, 'entry')}${entry_count === 0 ? '' : `: ${entryRange(first_sequence, last_sequence)}`}`,
    ],
    ['Period', between],
    ['Last entry’s hash', digest(head_hash)],
  ]);
}

function downloads(packageId: string): Markup {
  const words = { json: 'JSON, with all entries', summary: 'Summary as JSON', pdf: 'PDF' };
  return markup`<h2>Downloads</h2>
<ul>${PACKAGE_FORMS.map((form) => markup`<li><a href="${packagePath(packageId, form)}" download>${words[form]}</a></li>\n`)}</ul>
`;
}

function limitations({ limitations }: WireSummary): Markup {
  return markup`<h2>What it does not prove</h2>
<ul>${limitations.map((limit) => markup`<li>${name(limit)}</li>\n`)}</ul>
`;
}

const orderSchema = z
  .object({
    title: z
      .string()
      .transform((title) => (title === '' ? undefined : title))
      .pipe(text.max(256).optional()),
    from: formTime,
    to: formTime,
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ['to'],
    message: 'must be after the start',
  });

function newPage(server: FastifyInstance, { service }: AuditPageParts): void {
  serveForm(server, {
    path: '/audit/streams/:stream_id/packages/new',
    access: { scope: 'audit:export' },
    schema: orderSchema,
    async show(asked) {
      const { stream_id } = paramsOf<{ stream_id: string }>(asked.request);
      await findStream(service.database, stream_id);
      return orderForm(stream_id, asked);
    },
    async act(input, request, reply) {
      const order = { ...paramsOf<{ stream_id: string }>(request), ...input };
      const { package: made } = await service.evidence.generate(order, undefined, hangUpOf(reply));
      return packagePath(made.package_id);
    },
  });
}

function orderForm(streamId: string, asked: AskedForm): PageView {
  const { form } = asked;
  const time = { type: 'datetime-local', isOptional: true } as const;
  const first = 'Recording time of the first entry. If empty, starts with the first entry.';
  const fields = [
    field(form, { name: 'title', label: 'Title', isOptional: true }),
    field(form, { ...time, name: 'from', label: 'From, in UTC', hint: first }),
    field(form, { ...time, name: 'to', label: 'Before, in UTC', hint: 'If empty, ends with the last entry.' }),
  ];
  return {
    title: 'Generate an evidence package',
    above: waysTo(streamId),
    introduction: markup`Of the stream <code>${name(streamId)}</code>, as JSON, PDF and summary.`,
    isNarrow: true,
    content: postForm(asked, { fields, submit: 'Generate' }),
    api: { method: 'POST', path: '/audit/evidence/generate', body: { stream_id: streamId } },
  };
}
