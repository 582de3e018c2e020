import type { FastifyInstance } from 'fastify';
import { grouped } from '../../../core/plurals.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { baselineOperations } from '../operations/baselines.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { ABOVE_BASELINES, baselinePath, ENDPOINTS_API } from './paths.ts';

const ACTS = [
  {
    path: 'approve',
    operation: 'approveBaseline',
    // An approved file is never an event, so people prove again who they are.
    access: { ...CHANGES_ENDPOINTS, proved: true },
    introduction:
      'Scans are compared with it from now on, and so is the last one at once. What is in it raises no event any more.',
    submit: 'Approve it',
    done: 'It is the active baseline now.',
  },
  {
    path: 'reject',
    operation: 'rejectBaseline',
    access: CHANGES_ENDPOINTS,
    introduction: 'Nothing will be compared with it. The active baseline stays.',
    submit: 'Reject it',
    done: 'It is rejected.',
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
        return { title: `${submit.split(' ', 1)[0]} ${title}`, above, introduction, submit, isFinal: false, back };
      },
      notice: () => done,
    });
}
