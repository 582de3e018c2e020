import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { markup } from '../../../core/html/markup.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
import type { NamedAct } from '../../web/acts.ts';
import { field } from '../../web/fields.ts';
import { askedReason } from '../../web/reason.ts';
import { baselineOperations } from '../operations/baselines.ts';
import { hostOperations } from '../operations/hosts.ts';
import { proposalSchema } from '../wire/baselines.ts';
import { ONLY_A_LABEL } from './labels.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { aboveHost, baselinePath, ENDPOINTS_API, hostPath } from './paths.ts';

export function hostActPages(server: FastifyInstance, parts: EndpointPageParts): void {
  for (const act of ACTS) actPage(server, parts, act);
  proposePage(server, parts);
}

/** Act on an endpoint that requires a reason. */
interface HostAct extends NamedAct<'isolateHost' | 'releaseHost' | 'restartHost' | 'retireHost'> {
  /** True if the act requires a fresh authentication. */
  isProved?: true;
}

const ACTS: readonly HostAct[] = [
  {
    path: 'isolate',
    operation: 'isolateHost',
    title: (name) => `Label ${name} as isolated`,
    introduction: markup`<strong>${ONLY_A_LABEL}</strong> The label tells people and API clients that the machine should be isolated. To disconnect the machine, change its network.`,
    submit: 'Label',
    done: (name) => `${name} is labeled as isolated. ${ONLY_A_LABEL}`,
  },
  {
    path: 'release',
    operation: 'releaseHost',
    title: (name) => `Remove the isolation label from ${name}`,
    introduction: 'Only the label is removed: the machine was not disconnected from the network.',
    submit: 'Remove the label',
    done: (name) => `${name} is no longer labeled as isolated.`,
  },
  {
    path: 'restart',
    operation: 'restartHost',
    title: (name) => `Start a new chain for ${name}`,
    introduction:
      'The machine may bind a new key, and its reports start at 1 again. Use this after the machine was reinstalled or restored from a backup. First confirm which machine it is: the first machine that reports with its token is accepted. Earlier reports are kept.',
    submit: 'Start a new chain',
    isFinal: true,
    done: (name) => `${name} starts a new chain with its next report.`,
  },
  {
    path: 'retire',
    operation: 'retireHost',
    title: (name) => `Retire ${name}`,
    introduction:
      'For a machine that is no longer in use. Its token is revoked, its reports are no longer expected, and nothing is compared. Its earlier reports are kept, and events about its files stay open until they are acknowledged. Bait stays in place and remains a trap. This cannot be undone: to use the machine again, enroll it again.',
    submit: 'Retire',
    isFinal: true,
    isProved: true,
    done: (name) => `${name} is retired.`,
  },
];

function actPage(server: FastifyInstance, { service }: EndpointPageParts, act: HostAct): void {
  const { path, operation, isProved, title, done, ...words } = act;
  serveOperationAct(server, hostOperations(service)[operation], {
    path: `/endpoints/hosts/:endpoint_id/${path}`,
    api: ENDPOINTS_API,
    access: isProved === true ? { ...CHANGES_ENDPOINTS, proved: true } : CHANGES_ENDPOINTS,
    subject: ({ endpoint_id }) => service.hosts.find(endpoint_id),
    view: (host) => ({ ...words, title: title(host.name), above: aboveHost(host), back: hostPath(host.endpoint_id) }),
    notice: ({ name }) => done(name),
  });
}

const proposal = z.object({
  from: z.literal('latest_scan').default('latest_scan'),
  name: z.string().trim().min(1, 'Enter a name').pipe(proposalSchema.shape.name),
  reason: askedReason,
});

const EXAMPLE = { from: 'latest_scan', name: 'after the upgrade', reason: 'why' };

function proposePage(server: FastifyInstance, { service }: EndpointPageParts): void {
  serveOperationForm(server, baselineOperations(service).proposeBaseline, {
    path: '/endpoints/hosts/:endpoint_id/propose',
    api: ENDPOINTS_API,
    schema: proposal,
    subject: ({ endpoint_id }) => service.hosts.find(endpoint_id),
    view: ({ form }, host) => ({
      title: 'Propose a baseline',
      isNarrow: true,
      above: aboveHost(host),
      introduction:
        'Proposes the last scan of the machine. The page of the proposal shows its differences from the active baseline. The proposal takes effect when it is approved. If several people may approve it, another person must.',
      fields: [
        field(form, { name: 'name', label: 'Name', autocomplete: 'off', isFirst: true }),
        field(form, { name: 'reason', label: 'Reason', autocomplete: 'off' }),
      ],
      submit: 'Propose',
    }),
    example: () => EXAMPLE,
    done: ({ baseline_id }) => ({
      notice: 'The baseline is proposed. Review the differences before you approve it.',
      next: baselinePath(baseline_id),
    }),
  });
}
