import type { FastifyInstance, FastifyRequest } from 'fastify';
import { grouped } from '../../../core/plurals.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { paramsOf } from '../../web/asked.ts';
import { serveReasonedAct } from '../../web/reasoned-act.ts';
import { baselineParamsSchema } from '../requests/baselines.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { ABOVE_BASELINES, baselinePath, endpointsApi } from './paths.ts';

const ACTS = [
  {
    path: 'approve',
    // An approved file is never an event, so people prove again who they are.
    access: { ...CHANGES_ENDPOINTS, proved: true },
    introduction:
      'Scans are compared with it from now on, and so is the last one at once. What is in it raises no event any more.',
    submit: 'Approve it',
    done: 'It is the active baseline now.',
  },
  {
    path: 'reject',
    access: CHANGES_ENDPOINTS,
    introduction: 'Nothing will be compared with it. The active baseline stays.',
    submit: 'Reject it',
    done: 'It is rejected.',
  },
] as const;

/** Pages for the acts on a proposed baseline. */
export function baselineActPages(server: FastifyInstance, { service: { baselines } }: EndpointPageParts): void {
  for (const { path, access, introduction, submit, done } of ACTS)
    serveReasonedAct(server, {
      path: `/endpoints/baselines/:baseline_id/${path}`,
      access,
      params: baselineParamsSchema,
      async view(request) {
        const { baseline_id, name, version } = await baselines.find(idOf(request));
        const title = `${name}, version ${grouped(version)}`;
        const back = baselinePath(baseline_id);
        const above = [...ABOVE_BASELINES, { title, path: back }];
        const api = endpointsApi('baselines', baseline_id, path);
        return { title: `${submit.split(' ', 1)[0]} ${title}`, above, introduction, submit, isFinal: false, back, api };
      },
      async act(request, given) {
        const { baseline_id } = await baselines[path](actorOf(principalOf(request)), idOf(request), given);
        return { notice: done, next: baselinePath(baseline_id) };
      },
    });
}

function idOf(request: FastifyRequest): string {
  return paramsOf<{ baseline_id: string }>(request).baseline_id;
}
