import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, type MarkupContent, markup } from '../../../core/html/markup.ts';
import { type Actor, actorOf, principalOf } from '../../http/principal.ts';
import { paramsOf } from '../../web/asked.ts';
import { asCurl } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { field, postForm } from '../../web/fields.ts';
import { type FormState, serveForm } from '../../web/forms.ts';
import { askedReason, serveReasonedAct } from '../../web/reasoned-act.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import type { Hosts } from '../hosts.ts';
import { proposalSchema } from '../requests/baselines.ts';
import { hostParamsSchema, type WireHost } from '../requests/hosts.ts';
import { ONLY_A_LABEL } from './labels.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { aboveHost, baselinePath, endpointsApi, hostPath } from './paths.ts';

/** Pages for the acts on an endpoint. */
export function hostActPages(server: FastifyInstance, parts: EndpointPageParts): void {
  for (const act of ACTS) actPage(server, parts, act);
  proposePage(server, parts);
}

/** Something that is done with an endpoint for a reason. */
interface HostAct {
  path: 'isolate' | 'release' | 'restart' | 'retire';
  /** It asks again who it is. */
  isProved?: true;
  title(name: string): string;
  introduction: MarkupContent;
  submit: string;
  isFinal: boolean;
  done(name: string): string;
  work(hosts: Hosts, actor: Actor, id: string, given: { reason: string }): Promise<WireHost>;
}

const ACTS: readonly HostAct[] = [
  {
    path: 'isolate',
    title: (name) => `Label ${name} as isolated`,
    introduction: markup`<strong>${ONLY_A_LABEL}</strong> The machine goes on to reach others, and to be reached. The label tells people, and what reads the API, that it is to be isolated. To cut it off, do so where its network is.`,
    submit: 'Label it',
    isFinal: false,
    done: (name) => `${name} is labelled as isolated. ${ONLY_A_LABEL}`,
    work: (hosts, actor, id, given) => hosts.isolate(actor, id, given),
  },
  {
    path: 'release',
    title: (name) => `Take the label from ${name}`,
    introduction: 'It was a label: nothing was cut off the network, and nothing is connected again.',
    submit: 'Take it away',
    isFinal: false,
    done: (name) => `${name} is not labelled as isolated any more.`,
    work: (hosts, actor, id, given) => hosts.release(actor, id, given),
  },
  {
    path: 'restart',
    title: (name) => `Begin a new chain for ${name}`,
    introduction:
      'The machine may bind another key, and its reports begin at 1 again. Do so after it was set up anew or restored from a backup. Find out first which machine it is: whoever has its token and reports first is taken for it. What was reported before stays.',
    submit: 'Begin a new chain',
    isFinal: true,
    done: (name) => `${name} begins a new chain with its next report.`,
    work: (hosts, actor, id, given) => hosts.restart(actor, id, given),
  },
  {
    path: 'retire',
    title: (name) => `Retire ${name}`,
    introduction:
      'For a machine that is gone. Its token is revoked, nobody waits for its reports, and nothing is compared any more. All that it reported stays, and so do open events about its files until somebody acknowledges them. Bait on it stays where it is, and stays a trap. There is no way back: a machine that comes again is enrolled anew.',
    submit: 'Retire it',
    isFinal: true,
    isProved: true,
    done: (name) => `${name} is retired.`,
    work: (hosts, actor, id, given) => hosts.retire(actor, id, given),
  },
];

function actPage(server: FastifyInstance, { service: { hosts } }: EndpointPageParts, act: HostAct): void {
  serveReasonedAct(server, {
    path: `/endpoints/hosts/:endpoint_id/${act.path}`,
    access: act.isProved === true ? { ...CHANGES_ENDPOINTS, proved: true } : CHANGES_ENDPOINTS,
    params: hostParamsSchema,
    async view(request) {
      const host = await hosts.find(idOf(request));
      const { introduction, submit, isFinal } = act;
      const places = { back: hostPath(host.endpoint_id), api: endpointsApi('hosts', host.endpoint_id, act.path) };
      return { title: act.title(host.name), above: aboveHost(host), introduction, submit, isFinal, ...places };
    },
    async act(request, given) {
      const { name, endpoint_id } = await act.work(hosts, actorOf(principalOf(request)), idOf(request), given);
      return { notice: act.done(name), next: hostPath(endpoint_id) };
    },
  });
}

const proposal = z.object({
  name: z.string().trim().min(1, 'Say what the baseline is called').pipe(proposalSchema.shape.name),
  reason: askedReason,
});

const EXAMPLE = { from: 'latest_scan', name: 'after the upgrade', reason: 'why' };

function proposePage(server: FastifyInstance, { service: { hosts, baselines } }: EndpointPageParts): void {
  serveForm(server, {
    path: '/endpoints/hosts/:endpoint_id/propose',
    access: CHANGES_ENDPOINTS,
    params: hostParamsSchema,
    schema: proposal,
    async show(form, request, reply) {
      const host = await hosts.find(idOf(request));
      const call = {
        method: 'POST',
        path: endpointsApi('hosts', host.endpoint_id, 'baselines'),
        body: EXAMPLE,
      } as const;
      return {
        title: 'Propose a baseline',
        isNarrow: true,
        above: aboveHost(host),
        introduction:
          'What the last scan of the machine saw. It is shown as a difference to the active baseline, and somebody approves it before it is one: another person, where there are several.',
        content: [
          postForm({ request, reply, form }, { fields: proposalFields(form), submit: 'Propose it' }),
          asCurl('curl', curlCommand(request, call)),
        ],
      };
    },
    async act(given, request, reply) {
      const input = { from: 'latest_scan', ...given } as const;
      const { baseline_id } = await baselines.propose(actorOf(principalOf(request)), idOf(request), input);
      leaveNotice(reply, 'The baseline is proposed. Read what differs before you approve it.');
      return baselinePath(baseline_id);
    },
  });
}

function proposalFields(form: FormState): Markup[] {
  return [
    field(form, { name: 'name', label: 'Name', autocomplete: 'off', isFirst: true }),
    field(form, { name: 'reason', label: 'Reason', autocomplete: 'off' }),
  ];
}

function idOf(request: FastifyRequest): string {
  return paramsOf<{ endpoint_id: string }>(request).endpoint_id;
}
