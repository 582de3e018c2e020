import type { ModulePages } from '../../web/web.ts';
import { baselineActPages, baselinePage } from './baseline.ts';
import { baselinesPage } from './baselines.ts';
import { changeActPages, changePages } from './changes.ts';
import { enrolPage } from './enrol.ts';
import { eventPage } from './event.ts';
import { eventActPages } from './event-acts.ts';
import { eventsPage } from './events.ts';
import { hostPage } from './host.ts';
import { hostActPages } from './host-acts.ts';
import { hostsPage } from './hosts.ts';
import { newWindowPage } from './new-window.ts';
import { packagesPage } from './packages.ts';
import type { EndpointPageParts } from './parts.ts';
import { ENDPOINTS_PATH } from './paths.ts';
import { scansPage } from './scans.ts';
import { verifyPage } from './verify.ts';
import { windowPages } from './windows.ts';

/** Returns the pages of endpoints, which call the same services as the routes of the API. */
export function pagesOfEndpoints(parts: EndpointPageParts): ModulePages {
  return {
    nav: [{ title: 'Endpoints', path: ENDPOINTS_PATH, scope: 'endpoints:read' }],
    async routes(server) {
      for (const serve of PAGES_OF_ENDPOINTS) serve(server, parts);
    },
  };
}

const PAGES_OF_ENDPOINTS = [
  hostsPage,
  enrolPage,
  hostPage,
  hostActPages,
  verifyPage,
  scansPage,
  eventsPage,
  eventPage,
  eventActPages,
  changePages,
  changeActPages,
  newWindowPage,
  windowPages,
  baselinesPage,
  baselinePage,
  baselineActPages,
  packagesPage,
];
