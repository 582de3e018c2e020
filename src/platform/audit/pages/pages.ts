import type { ModulePages } from '../../web/web.ts';
import { pagesOfCheckpoints } from './checkpoints.ts';
import { pagesOfChecks } from './checks.ts';
import { pagesOfEntries } from './entries.ts';
import { statisticsPage } from './overview.ts';
import { pagesOfPackages } from './packages.ts';
import type { AuditPageParts } from './parts.ts';
import { AUDIT_PATH } from './paths.ts';
import { streamPage } from './stream.ts';
import { streamsPage } from './streams.ts';

/** Returns the pages of the audit service. They call what the routes of the API call. */
export function pagesOfAudit(parts: AuditPageParts): ModulePages {
  return {
    nav: [{ title: 'Audit', path: AUDIT_PATH, scope: 'audit:read' }],
    async routes(server) {
      for (const serve of PAGES) serve(server, parts);
    },
  };
}

const PAGES = [
  streamsPage,
  streamPage,
  statisticsPage,
  pagesOfEntries,
  pagesOfChecks,
  pagesOfCheckpoints,
  pagesOfPackages,
];
