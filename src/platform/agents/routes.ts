import type { FastifyPluginAsync } from 'fastify';
import { serveOpenApi } from '../http/openapi.ts';
import { serveOperations } from '../operations/operation.ts';
import { actionOperations } from './operations/actions.ts';
import { agentOperations, trustOperations } from './operations/agents.ts';
import { killOperations } from './operations/kill.ts';
import { subscriberOperations } from './operations/subscribers.ts';
import { decoyOperations, vaultOperations } from './operations/vault.ts';
import { didRoutes, publicAgentRoutes, type Strangers } from './public/routes.ts';
import type { AgentService } from './service.ts';
import { actionSchema, loggedActionSchema, loggedOutcomeSchema } from './wire/actions.ts';
import { agentSchema, agentStatsSchema, agentVerificationSchema, onboardedSchema } from './wire/agents.ts';
import { killReceiptSchema, wireSubscriberSchema } from './wire/kill.ts';
import { simulatedSchema, trustLineSchema, trustScoreSchema } from './wire/trust.ts';
import { decoySchema, vaultSchema } from './wire/vault.ts';

const OPERATIONS = [
  agentOperations,
  actionOperations,
  trustOperations,
  killOperations,
  subscriberOperations,
  vaultOperations,
  decoyOperations,
];

/** Routes of the agent identity and governance service, registered under its base path. */
export const agentServiceRoutes: FastifyPluginAsync<{ service: AgentService } & Strangers> = async (
  server,
  { service, ...strangers },
) => {
  await serveOpenApi(server, {
    title: 'Agent identity and governance',
    description:
      'Gives AI agents an identity, an audit trail, a trust score and a kill switch. It records what agents report but cannot prevent their actions. The kill switch reports exactly which steps ran.',
    schemas: {
      Agent: agentSchema,
      Onboarded: onboardedSchema,
      LoggedAction: loggedActionSchema,
      LoggedOutcome: loggedOutcomeSchema,
      Action: actionSchema,
      TrustScore: trustScoreSchema,
      TrustLine: trustLineSchema,
      JsonValue: trustLineSchema.shape.detail.valueType,
      Simulated: simulatedSchema,
      KillReceipt: killReceiptSchema,
      Subscriber: wireSubscriberSchema,
      Vault: vaultSchema,
      Decoy: decoySchema,
      PublicVerification: agentVerificationSchema,
      AgentStats: agentStatsSchema,
    },
  });
  const prefix = '/api/v1';
  await server.register(
    async (versioned) => {
      for (const operationsOf of OPERATIONS) serveOperations(versioned, operationsOf(service));
    },
    { prefix },
  );
  await server.register(publicAgentRoutes, { service, ...strangers, prefix });
  await server.register(didRoutes, { service, ...strangers });
};
