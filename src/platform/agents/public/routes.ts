import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { sha256 } from '../../../core/digest.ts';
import { isKnown, sendKnown } from '../../http/etag.ts';
import type { RateLimits } from '../../http/principal.ts';
import { networkOf, RateLimit } from '../../http/rate-limit.ts';
import { problemResponses } from '../../http/responses.ts';
import { LIST_FRESH_SECONDS } from '../identity/tokens.ts';
import { OwnQuestions } from '../kill/asking.ts';
import type { AgentService } from '../service.ts';
import { agentParamsSchema, agentVerificationSchema, fileParamsSchema } from '../wire/agents.ts';

const PEM = 'application/pem-certificate-chain';

/** Public routes, which need no key. */
// Over 40 lines: it is a list of routes.
export const publicAgentRoutes: FastifyPluginAsyncZod<{ service: AgentService } & Strangers> = async (
  server,
  { service, ...strangers },
) => {
  limitStrangers(server, strangers);
  const agents = service.public;

  server.get(
    '/public/verify-agent/:agent_id',
    publicRoute({
      operationId: 'verifyAgent',
      summary: 'Get the current public status of an agent, without its rights or owner',
      params: agentParamsSchema,
      response: { 200: agentVerificationSchema, ...problemResponses(404) },
    }),
    ({ params }) => agents.verify(params.agent_id),
  );

  server.get(
    '/public/status-list',
    publicRoute({
      operationId: 'getStatusList',
      summary: 'Get the signed status of all passports (Token Status List)',
      response: { 200: textOf('application/statuslist+jwt', 'A signed JWT'), 304: KNOWN },
    }),
    async (_request, reply) => sendCacheable(reply, 'application/statuslist+jwt', await agents.statusList()) as never,
  );

  server.get(
    '/public/jwks.json',
    publicRoute({
      operationId: 'getKeys',
      summary: 'Get the public keys that verify passports, status lists and Security Event Tokens',
      response: { 200: KEYS, 304: KNOWN },
    }),
    async (_request, reply) =>
      sendCacheable(reply, 'application/jwk-set+json', JSON.stringify(await agents.jwks())) as never,
  );

  server.get(
    '/public/crl/:file.crl',
    publicRoute({
      operationId: 'getRevocationList',
      summary: 'Get the revocation list of an authority in DER (RFC 5280): ecdsa.crl, ml-dsa-65.crl',
      params: fileParamsSchema,
      response: { 200: textOf('application/pkix-crl', 'A list in DER'), 304: KNOWN, ...problemResponses(404) },
    }),
    async ({ params }, reply) =>
      sendCacheable(reply, 'application/pkix-crl', await agents.revocationList(params.file)) as never,
  );

  for (const [file, kind, operationId] of [
    ['ecdsa', 'ecdsa', 'getEcdsaAuthority'],
    ['ml-dsa-65', 'ml_dsa_65', 'getMlDsaAuthority'],
  ] as const)
    server.get(
      `/public/ca/${file}.pem`,
      publicRoute({
        operationId,
        summary: `Get the authority certificates that sign ${file} certificates of agents, in PEM, newest first`,
        response: { 200: textOf(PEM, 'Certificates'), 304: KNOWN },
      }),
      async (_request, reply) => sendCacheable(reply, PEM, await agents.certificates(kind)) as never,
    );
};

/** Returns the options of a route that anybody may ask. */
function publicRoute<Schema extends { operationId: string; summary: string }>(schema: Schema) {
  return { config: { public: true }, schema: { ...schema, tags: ['public'] } };
}

/** Answer with keys: RFC 7517 section 8.5.1. */
const KEYS = {
  description: 'A set of keys.',
  content: {
    'application/jwk-set+json': { schema: z.object({ keys: z.array(z.record(z.string(), z.string())) }) },
  },
};

const KNOWN = z.undefined().describe('The content matches the ETag in If-None-Match.');

function textOf(type: string, description: string) {
  return { description, content: { [type]: { schema: z.string() } } };
}

/** Sends content that caches may keep for a while. */
function sendCacheable(reply: FastifyReply, type: string, content: string | Buffer): FastifyReply {
  reply.header('cache-control', `public, max-age=${LIST_FRESH_SECONDS}`);
  if (isKnown(reply, sha256(content))) return sendKnown(reply);
  return reply.type(type).send(content);
}

const document = z.looseObject({}).meta({ type: 'object', additionalProperties: true });

/** Answer with a DID document: DID Core section 6.2. */
const didDocument = { description: 'A DID document.', content: { 'application/did+json': { schema: document } } };

/** Routes for the documents that an agent's DID resolves to. */
export const didRoutes: FastifyPluginAsyncZod<{ service: AgentService } & Strangers> = async (
  server,
  { service, ...strangers },
) => {
  limitStrangers(server, strangers);
  const agents = service.public;

  server.get(
    '/did/:agent_id/did.json',
    publicRoute({
      operationId: 'getDidDocument',
      summary: 'Get the DID document of an agent, which has no keys if the agent is revoked',
      params: agentParamsSchema,
      response: { 200: didDocument, ...problemResponses(404) },
    }),
    async ({ params }, reply) => {
      const found = await agents.didDocument(params.agent_id);
      reply.type('application/did+json');
      return { ...found };
    },
  );

  server.get(
    '/did/:agent_id/agent-card.json',
    publicRoute({
      operationId: 'getAgentCard',
      summary: 'Get the signed A2A card of an agent',
      params: agentParamsSchema,
      response: { 200: document, ...problemResponses(404) },
    }),
    async ({ params }) => ({ ...(await agents.card(params.agent_id)) }),
  );
};

export interface Strangers {
  rateLimits: RateLimits;
  ownQuestions: Pick<OwnQuestions, 'isOwn'>;
  clock: () => Date;
}

/** Limits the rate of requests without a key, by network address. */
export function limitStrangers(server: FastifyInstance, { rateLimits, ownQuestions, clock }: Strangers): void {
  const limit = new RateLimit('strangers', rateLimits.refusalsPerMinute, clock);
  const isOwn = ({ headers, params }: FastifyRequest) =>
    ownQuestions.isOwn((params as { agent_id?: string }).agent_id ?? '', headers[OwnQuestions.header]);
  server.addHook('onRequest', async (request, reply) => {
    if (!isOwn(request)) limit.count(networkOf(request), reply);
  });
}
