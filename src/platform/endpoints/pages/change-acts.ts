import type { FastifyInstance } from 'fastify';
import { serveOperationAct } from '../../operations/act.ts';
import { changeOperations } from '../operations/changes.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { ABOVE_CHANGES, ABOVE_WINDOWS, changePath, ENDPOINTS_API, windowPath } from './paths.ts';
import { pathLine } from './shown-path.ts';

/** Pages for the acts on changes of several endpoints at once. */
export function changeActPages(server: FastifyInstance, parts: EndpointPageParts): void {
  approveChangePage(server, parts);
  for (const act of ['approve', 'reopen'] as const) windowActPage(server, parts, act);
}

/** Approval lowers severities from now on, so people prove again who they are. */
const APPROVES = { ...CHANGES_ENDPOINTS, proved: true };

function approveChangePage(server: FastifyInstance, { service }: EndpointPageParts): void {
  serveOperationAct(server, changeOperations(service).approveChange, {
    path: '/endpoints/changes/:change_id/approve',
    api: ENDPOINTS_API,
    access: APPROVES,
    subject: ({ change_id }) => service.changes.find(change_id),
    view(change) {
      const back = changePath(change.change_id);
      return {
        title: 'Approve this change',
        above: [...ABOVE_CHANGES, { title: pathLine(change), path: back }],
        introduction:
          'It was meant, wherever it stands: it is explained, and less bad, also where it is seen later. The baselines stay as they are.',
        submit: 'Approve it',
        isFinal: false,
        back,
      };
    },
    notice: () => 'The change is approved.',
  });
}

const WINDOW_ACTS = {
  approve: {
    operation: 'approveChangeWindow',
    access: APPROVES,
    title: 'Approve what the window quieted',
    introduction:
      'All that it quieted was meant: it is explained by this window, and less bad. The baselines stay as they are.',
    submit: 'Approve it',
    done: 'What the window quieted is approved.',
  },
  reopen: {
    operation: 'reopenChangeWindow',
    access: CHANGES_ENDPOINTS,
    title: 'Open what the window quieted',
    introduction: 'What it quieted, and nobody has approved or acknowledged, is open again.',
    submit: 'Open it',
    done: 'What the window quieted is open.',
  },
} as const;

function windowActPage(server: FastifyInstance, { service }: EndpointPageParts, act: keyof typeof WINDOW_ACTS): void {
  const { operation, access, done, ...words } = WINDOW_ACTS[act];
  serveOperationAct(server, changeOperations(service)[operation], {
    path: `/endpoints/change-windows/:window_id/${act}`,
    api: ENDPOINTS_API,
    access,
    subject: ({ window_id }) => service.windows.find(window_id),
    view({ window_id, reason }) {
      const back = windowPath(window_id);
      return { ...words, above: [...ABOVE_WINDOWS, { title: reason, path: back }], isFinal: false, back };
    },
    notice: () => done,
  });
}
