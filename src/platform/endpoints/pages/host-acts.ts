import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type MarkupContent, markup } from '../../../core/html/markup.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
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
interface HostAct {
  path: string;
  operation: 'isolateHost' | 'releaseHost' | 'restartHost' | 'retireHost';
  /** True if the act requires a fresh authentication. */
  isProved?: true;
  title(name: string): string;
  introduction: MarkupContent;
  submit: string;
  isFinal: boolean;
  done(name: string): string;
}

const ACTS: readonly HostAct[] = [
  {
    path: 'isolate',
    operation: 'isolateHost',
    title: (name) => `Label ${name} as isolated`,
    introduction: markup`<strong>${ONLY_A_LABEL}</strong> The machine goes on to reach others, and to be reached. The label tells people, and what reads the API, that it is to be isolated. To cut it off, do so where its network is.`,
    submit: 'Label it',
    isFinal: false,
    done: (name) => `${name} is labelled as isolated. ${ONLY_A_LABEL}`,
  },
  {
    path: 'release',
    operation: 'releaseHost',
    title: (name) => `Take the label from ${name}`,
    introduction: 'It was a label: nothing was cut off the network, and nothing is connected again.',
    submit: 'Take it away',
    isFinal: false,
    done: (name) => `${name} is not labelled as isolated any more.`,
  },
  {
    path: 'restart',
    operation: 'restartHost',
    title: (name) => `Begin a new chain for ${name}`,
    introduction:
      'The machine may bind another key, and its reports begin at 1 again. Do so after it was set up anew or restored from a backup. Find out first which machine it is: whoever has its token and reports first is taken for it. What was reported before stays.',
    submit: 'Begin a new chain',
    isFinal: true,
    done: (name) => `${name} begins a new chain with its next report.`,
  },
  {
    path: 'retire',
    operation: 'retireHost',
    title: (name) => `Retire ${name}`,
    introduction:
      'For a machine that is gone. Its token is revoked, nobody waits for its reports, and nothing is compared any more. All that it reported stays, and so do open events about its files until somebody acknowledges them. Bait on it stays where it is, and stays a trap. There is no way back: a machine that comes again is enrolled anew.',
    submit: 'Retire it',
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
  name: z.string().trim().min(1, 'Say what the baseline is called').pipe(proposalSchema.shape.name),
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
        'What the last scan of the machine saw. It is shown as a difference to the active baseline, and somebody approves it before it is one: another person, where there are several.',
      fields: [
        field(form, { name: 'name', label: 'Name', autocomplete: 'off', isFirst: true }),
        field(form, { name: 'reason', label: 'Reason', autocomplete: 'off' }),
      ],
      submit: 'Propose it',
    }),
    example: () => EXAMPLE,
    done: ({ baseline_id }) => ({
      notice: 'The baseline is proposed. Read what differs before you approve it.',
      next: baselinePath(baseline_id),
    }),
  });
}
