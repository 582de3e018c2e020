import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { principalOf, requireScope } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { agentParamsSchema } from '../requests/parts.ts';
import {
  decoyListSchema,
  decoyParamsSchema,
  decoySchema,
  newDecoySchema,
  newSecretSchema,
  secretParamsSchema,
  secretSchema,
  takenSecretSchema,
  vaultSchema,
} from '../requests/vault.ts';
import type { AgentService } from '../service.ts';

const SECRET = '/agents/:agent_id/vault/secrets/:name';
const DECOYS = '/agents/:agent_id/vault/decoys';

/** Routes for the vaults of agents, and for the decoys in them. */
// Over 40 lines: it is a list of routes.
export const agentVaultRoutes: FastifyPluginAsyncZod<{ service: AgentService }> = async (server, { service }) => {
  const { vault } = service;

  server.get(
    '/agents/:agent_id/vault',
    {
      config: { scope: 'agents:act' },
      schema: {
        operationId: 'getAgentVault',
        tags: ['vault'],
        summary: 'List the secrets in the vault of an agent, without their values, and its tools',
        params: agentParamsSchema,
        response: { 200: vaultSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => vault.contents(principalOf(request), request.params.agent_id),
  );

  server.put(
    SECRET,
    {
      config: { scope: 'agents:act' },
      schema: {
        operationId: 'putAgentSecret',
        tags: ['vault'],
        summary: 'Put a secret into the vault of an agent, in the place of the one of its name',
        params: secretParamsSchema,
        body: newSecretSchema,
        response: { 200: secretSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => {
      const { agent_id, name } = request.params;
      return vault.put(principalOf(request), agent_id, { name, ...request.body }, askerOf(request));
    },
  );

  server.get(
    SECRET,
    {
      config: { scope: 'agents:act' },
      schema: {
        operationId: 'getAgentSecret',
        tags: ['vault'],
        summary: 'Take a secret out of the vault of an agent, under a lease; each time is an entry of its stream',
        params: secretParamsSchema,
        response: { 200: takenSecretSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const { agent_id, name } = request.params;
      const taken = await vault.get(principalOf(request), agent_id, name, askerOf(request));
      return reply.header('cache-control', 'no-store').send(taken);
    },
  );

  server.delete(
    SECRET,
    {
      config: { scope: 'agents:act' },
      schema: {
        operationId: 'removeAgentSecret',
        tags: ['vault'],
        summary: 'Remove a secret from the vault of an agent, and end its leases',
        params: secretParamsSchema,
        response: { 200: secretSchema, ...problemResponses(404, 409) },
      },
    },
    (request) => {
      const { agent_id, name } = request.params;
      return vault.remove(principalOf(request), agent_id, name, askerOf(request));
    },
  );

  server.get(
    DECOYS,
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'listAgentDecoys',
        tags: ['vault'],
        summary: 'List the decoys in the vault of an agent, which the agent cannot tell from the rest',
        params: agentParamsSchema,
        response: { 200: decoyListSchema, ...problemResponses(404) },
      },
    },
    async ({ params }) => ({ data: (await vault.list(params.agent_id)).decoys }),
  );

  server.post(
    DECOYS,
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'addAgentDecoy',
        tags: ['vault'],
        summary: 'Put a decoy into the vault of an agent; this needs the scope traps:write, too',
        params: agentParamsSchema,
        body: newDecoySchema,
        response: { 201: decoySchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      requireScope(principal, 'traps:write');
      const decoy = await vault.addDecoy(actorOf(principal), request.params.agent_id, request.body);
      return reply.code(201).send(decoy);
    },
  );

  server.delete(
    `${DECOYS}/:decoy_id`,
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'removeAgentDecoy',
        tags: ['vault'],
        summary: 'Take a decoy out of the vault of an agent; its trap stays one; this needs the scope traps:write, too',
        params: decoyParamsSchema,
        response: { 200: decoySchema, ...problemResponses(404) },
      },
    },
    (request) => {
      const principal = principalOf(request);
      requireScope(principal, 'traps:write');
      const { agent_id, decoy_id } = request.params;
      return vault.removeDecoy(actorOf(principal), agent_id, decoy_id);
    },
  );
};

function askerOf({ ip, headers }: FastifyRequest) {
  return { address: ip, userAgent: headers['user-agent'] ?? null };
}
