import type { FastifyInstance, FastifyRequest } from 'fastify';
import { actorOf, principalOf } from '../../http/principal.ts';
import { paramsOf } from '../../web/asked.ts';
import { serveReasonedAct } from '../../web/reasoned-act.ts';
import { changeParamsSchema, windowParamsSchema } from '../requests/changes.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { ABOVE_CHANGES, ABOVE_WINDOWS, changePath, endpointsApi, windowPath } from './paths.ts';
import { pathLine } from './shown-path.ts';

/** Pages for the acts on changes of several endpoints at once. */
export function changeActPages(server: FastifyInstance, parts: EndpointPageParts): void {
  approveChangePage(server, parts);
  for (const act of ['approve', 'reopen'] as const) windowActPage(server, parts, act);
}

/** Approval lowers severities from now on, so people prove again who they are. */
const APPROVES = { ...CHANGES_ENDPOINTS, proved: true };

function approveChangePage(server: FastifyInstance, { service: { changes } }: EndpointPageParts): void {
  serveReasonedAct(server, {
    path: '/endpoints/changes/:change_id/approve',
    access: APPROVES,
    params: changeParamsSchema,
    async view(request) {
      const change = await changes.find(idIn(request, 'change_id'));
      const back = changePath(change.change_id);
      return {
        title: 'Approve this change',
        above: [...ABOVE_CHANGES, { title: pathLine(change), path: back }],
        introduction:
          'It was meant, wherever it stands: it is explained, and less bad, also where it is seen later. The baselines stay as they are.',
        submit: 'Approve it',
        isFinal: false,
        back,
        api: endpointsApi('changes', change.change_id, 'approve'),
      };
    },
    async act(request, given) {
      const { change_id } = await changes.approve(actorOf(principalOf(request)), idIn(request, 'change_id'), given);
      return { notice: 'The change is approved.', next: changePath(change_id) };
    },
  });
}

const WINDOW_ACTS = {
  approve: {
    title: 'Approve what the window quieted',
    introduction:
      'All that it quieted was meant: it is explained by this window, and less bad. The baselines stay as they are.',
    submit: 'Approve it',
    done: 'What the window quieted is approved.',
  },
  reopen: {
    title: 'Open what the window quieted',
    introduction: 'What it quieted, and nobody has approved or acknowledged, is open again.',
    submit: 'Open it',
    done: 'What the window quieted is open.',
  },
};

function windowActPage(
  server: FastifyInstance,
  { service: { windows } }: EndpointPageParts,
  act: keyof typeof WINDOW_ACTS,
): void {
  const { done, ...words } = WINDOW_ACTS[act];
  serveReasonedAct(server, {
    path: `/endpoints/change-windows/:window_id/${act}`,
    access: act === 'approve' ? APPROVES : CHANGES_ENDPOINTS,
    params: windowParamsSchema,
    async view(request) {
      const { window_id, reason } = await windows.find(idIn(request, 'window_id'));
      const back = windowPath(window_id);
      const above = [...ABOVE_WINDOWS, { title: reason, path: back }];
      return { ...words, above, isFinal: false, back, api: endpointsApi('change-windows', window_id, act) };
    },
    async act(request, given) {
      const { window_id } = await windows[act](actorOf(principalOf(request)), idIn(request, 'window_id'), given);
      return { notice: done, next: windowPath(window_id) };
    },
  });
}

function idIn(request: FastifyRequest, name: 'change_id' | 'window_id'): string {
  return paramsOf<Record<typeof name, string>>(request)[name];
}
