import { pageSchema } from '../../http/wire.ts';
import { operation } from '../../operations/operation.ts';
import type { AgentService } from '../service.ts';
import { agentParamsSchema } from '../wire/agents.ts';
import {
  historyQuerySchema,
  simulatedSchema,
  simulationSchema,
  trustLineSchema,
  trustScoreSchema,
} from '../wire/trust.ts';

/** Returns the operations on the trust in agents, and its reasons. */
export function trustOperations({ trust }: AgentService) {
  return {
    getTrustScore: operation({
      method: 'GET',
      path: '/agents/:agent_id/trust-score',
      scope: 'agents:read',
      tag: 'trust',
      summary: 'Get the trust score of an agent: its tier, what it is the sum of, what holds it, and what to do next',
      params: agentParamsSchema,
      answer: trustScoreSchema,
      refusals: [404],
      work: ({ params }) => trust.score(params.agent_id),
    }),
    listTrustLines: operation({
      method: 'GET',
      path: '/agents/:agent_id/trust-score/history',
      scope: 'agents:read',
      tag: 'trust',
      summary: 'List the ledger of an agent, newest first: every score that was ever shown follows from it',
      params: agentParamsSchema,
      query: historyQuerySchema,
      answer: pageSchema(trustLineSchema),
      refusals: [404],
      work: ({ params, query }) => trust.history(params.agent_id, query),
    }),
    simulateTrust: operation({
      method: 'POST',
      path: '/agents/:agent_id/trust-score/simulate',
      scope: 'agents:read',
      tag: 'trust',
      summary: 'Get what rules or an action would do to the trust score of an agent; nothing is recorded',
      params: agentParamsSchema,
      body: simulationSchema,
      answer: simulatedSchema,
      refusals: [404],
      work: ({ params, body }) => trust.simulate(params.agent_id, body),
    }),
  };
}
