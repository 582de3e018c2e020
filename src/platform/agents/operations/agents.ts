import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { AgentService } from '../service.ts';
import {
  agentParamsSchema,
  agentPatchSchema,
  agentQuerySchema,
  agentRegistrationSchema,
  agentSchema,
  agentStatsSchema,
  onboardedSchema,
} from '../wire/agents.ts';
import { simulatedSchema, simulationSchema, trustLineSchema, trustScoreSchema } from '../wire/trust.ts';

const AGENTS = operationGroup('agents', 'agents');
const TRUST = operationGroup('agents', 'trust');

// Over 40 lines: it is the list of operations.
export function agentOperations({ agents, onboarding, stats }: AgentService) {
  return {
    registerAgent: AGENTS.post('/agents', {
      summary: 'Register an agent; an empty allowance denies everything',
      body: agentRegistrationSchema,
      isKeyed: true,
      status: 201,
      answer: agentSchema,
      refusals: [404, 409],
      work: ({ actor, body, key }) => agents.register(actor, body, key),
    }),
    listAgents: AGENTS.get('/agents', {
      summary: 'List agents, newest first',
      query: agentQuerySchema,
      answer: pageSchema(agentSchema),
      work: ({ query }) => agents.list(query),
    }),
    getAgent: AGENTS.get('/agents/:agent_id', {
      summary: 'Get an agent, with its state and public identity',
      params: agentParamsSchema,
      answer: agentSchema,
      refusals: [404],
      work: ({ params }) => agents.find(params.agent_id),
    }),
    changeAgent: AGENTS.patch('/agents/:agent_id', {
      summary:
        'Change an agent; changing its model, version, prompt or allowances suspends its passport until it is onboarded again',
      params: agentParamsSchema,
      body: agentPatchSchema,
      answer: agentSchema,
      refusals: [404, 409],
      work: ({ actor, params, body }) => agents.change(actor, params.agent_id, body),
    }),
    onboardAgent: AGENTS.post('/agents/:agent_id/onboard', {
      summary:
        'Onboard an agent: issue its identity, certificates, vault, audit stream and passport; private keys are returned only once',
      params: agentParamsSchema,
      isKeyed: true,
      status: 201,
      answer: onboardedSchema,
      refusals: [404, 409],
      work: ({ actor, params, key }) => onboarding.onboard(actor, params.agent_id, key),
    }),
    getAgentStats: AGENTS.get('/stats/', {
      summary: 'Count agents by state and tier, suspended passports, actions and violations',
      answer: agentStatsSchema,
      work: () => stats(),
    }),
  };
}

/** Returns the operations on trust scores and their reasons. */
export function trustOperations({ trust }: AgentService) {
  return {
    getTrustScore: TRUST.get('/agents/:agent_id/trust-score', {
      summary: 'Get the trust score of an agent: its tier, factors, ceiling and next steps',
      params: agentParamsSchema,
      answer: trustScoreSchema,
      refusals: [404],
      work: ({ params }) => trust.score(params.agent_id),
    }),
    listTrustLines: TRUST.get('/agents/:agent_id/trust-score/history', {
      summary: 'List the trust ledger of an agent, newest first; every score follows from it',
      params: agentParamsSchema,
      query: pageQuerySchema,
      answer: pageSchema(trustLineSchema),
      refusals: [404],
      work: ({ params, query }) => trust.history(params.agent_id, query),
    }),
    simulateTrust: TRUST.post('/agents/:agent_id/trust-score/simulate', {
      scope: 'agents:read',
      summary: 'Simulate the effect of rules or an action on the trust score of an agent; nothing is recorded',
      params: agentParamsSchema,
      body: simulationSchema,
      answer: simulatedSchema,
      refusals: [404],
      work: ({ params, body }) => trust.simulate(params.agent_id, body),
    }),
  };
}
