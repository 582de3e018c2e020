import type { FastifyInstance } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { serveOperationList } from '../../operations/list.ts';
import { copyable, dataTable, digest, emptyState, moment } from '../../web/components.ts';
import { packageOperations } from '../operations/packages.ts';
import type { WireArchive } from '../wire/events.ts';
import type { EndpointPageParts } from './parts.ts';
import { ABOVE_ENDPOINTS, ENDPOINTS_API } from './paths.ts';

/** Serves the list of signed archives whose packages explain changes. */
export function packagesPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  serveOperationList(server, packageOperations(service).listSignedArchives, {
    path: '/endpoints/packages',
    api: ENDPOINTS_API,
    head: () => ({
      title: 'Signed packages',
      above: ABOVE_ENDPOINTS,
      introduction:
        'Archives whose signatures were verified. A package explains a change if it contains the changed file at the same path. Endpoints are not asked what they have installed.',
    }),
    table: (archives) => archiveTable(archives, clock()),
    after: ({ length }) =>
      length === 0
        ? null
        : markup`<p>To import more, run this command where the platform runs:</p>\n${copyable('import', 'Import packages', IMPORT)}`,
  });
}

const IMPORT = 'evidence-platform packages import /var/lib/apt/lists /var/cache/apt/archives';

function archiveTable(archives: readonly WireArchive[], now: Date): Markup {
  const text =
    'No archives are imported yet, so no upgrades are explained. Import the lists and packages of apt where the platform runs:';
  return dataTable({
    caption: 'Signed archives',
    columns: [
      { head: 'Archive', kind: 'name', cell: ({ archive }) => name(archive) },
      { head: 'Signed by', cell: ({ signed_by }) => markup`<ul class="plain">${signed_by.map(signerItem)}</ul>` },
      { head: 'Imported', cell: ({ imported_at }) => moment(imported_at, now) },
      { head: 'Packages listed', kind: 'number', cell: ({ packages }) => grouped(packages) },
      { head: 'With known files', kind: 'number', cell: ({ opened }) => grouped(opened) },
      { head: 'Files', kind: 'number', cell: ({ files }) => grouped(files) },
      { head: 'InRelease', cell: ({ release_sha256 }) => digest(release_sha256) },
    ],
    rows: archives,
    empty: emptyState(text, copyable('import', 'Import packages', IMPORT)),
  });
}

function signerItem(signer: string): Markup {
  return markup`<li>${name(signer)}</li>`;
}
