import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { EndpointService } from '../service.ts';
import {
  baselineParamsSchema,
  baselineQuerySchema,
  baselineSchema,
  differencesSchema,
  proposalSchema,
} from '../wire/baselines.ts';
import { hostParamsSchema, reasonSchema } from '../wire/hosts.ts';

const BASELINES = operationGroup('endpoints', 'baselines');

// Over 40 lines: it is the list of operations.
export function baselineOperations({ baselines }: EndpointService) {
  const decide = (name: 'approve' | 'reject', summary: string) =>
    BASELINES.post(`/baselines/:baseline_id/${name}`, {
      summary,
      params: baselineParamsSchema,
      body: reasonSchema,
      answer: baselineSchema,
      refusals: [404, 409],
      work: ({ actor, params, body }) => baselines[name](actor, params.baseline_id, body),
    });
  return {
    proposeBaseline: BASELINES.post('/hosts/:endpoint_id/baselines', {
      summary: 'Propose the last scan of an endpoint as its baseline',
      params: hostParamsSchema,
      body: proposalSchema,
      status: 201,
      answer: baselineSchema,
      refusals: [404, 409],
      work: ({ actor, params, body }) => baselines.propose(actor, params.endpoint_id, body),
    }),
    listBaselines: BASELINES.get('/baselines/', {
      summary: 'List baselines, newest first',
      query: baselineQuerySchema,
      answer: pageSchema(baselineSchema),
      work: ({ query }) => baselines.list(query),
    }),
    getBaseline: BASELINES.get('/baselines/:baseline_id', {
      summary: 'Get a baseline without its lines',
      params: baselineParamsSchema,
      answer: baselineSchema,
      refusals: [404],
      work: ({ params }) => baselines.find(params.baseline_id),
    }),
    getBaselineDifference: BASELINES.get('/baselines/:baseline_id/difference', {
      summary:
        'List the differences between a proposal and the active baseline, or between a baseline and the previous one',
      params: baselineParamsSchema,
      query: pageQuerySchema,
      answer: differencesSchema,
      refusals: [404],
      work: ({ params, query }) => baselines.difference(params.baseline_id, query),
    }),
    approveBaseline: decide(
      'approve',
      'Approve a proposal as the active baseline; if several people may approve, the proposer must not',
    ),
    rejectBaseline: decide('reject', 'Reject a proposal'),
  };
}
