import type { ModulePages } from '../../web/web.ts';
import { detectionPages } from './detection.ts';
import { detectionsPage } from './detections.ts';
import { importTrapPage } from './import-trap.ts';
import { newTrapPage } from './new-trap.ts';
import type { TrapPageParts } from './parts.ts';
import { TRAPS_PATH } from './paths.ts';
import { trapPage } from './trap.ts';
import { trapActPages } from './trap-acts.ts';
import { trapsPage } from './traps.ts';

/** Returns the pages of traps, which call the same services as the routes of the API. */
export function pagesOfTraps(parts: TrapPageParts): ModulePages {
  return {
    nav: [{ title: 'Traps', path: TRAPS_PATH, scope: 'traps:read' }],
    async routes(server) {
      for (const serve of PAGES_OF_TRAPS) serve(server, parts);
    },
  };
}

const PAGES_OF_TRAPS = [detectionsPage, trapsPage, newTrapPage, importTrapPage, trapPage, trapActPages, detectionPages];
