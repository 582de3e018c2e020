import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { DomainError } from '../errors.ts';
import type { Scope } from '../scopes.ts';
import { networkOf, RateLimit } from './rate-limit.ts';

/** The sender of a request, with its rights. */
export interface Principal {
  kind: 'key' | 'person';
  /** The id of the API key or the person. */
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** The only subject that it may speak for, as a service names it: `endpoint:ID`. */
  boundTo?: string | null;
}

/** The actor, with its rights: nobody grants a scope that they do not have. */
export interface Actor {
  /** As acts name them: `key:ID`, `person:ID`, `command:NAME`. */
  name: string;
  scopes: readonly Scope[];
}

/** Returns the actor that a principal is. */
export function actorOf({ kind, id, scopes }: Principal): Actor {
  return { name: `${kind}:${id}`, scopes };
}

/** Finds the owner of an API key. @throws DomainError `unauthenticated`, `key_expired`, `key_revoked`. */
export type Authenticate = (presented: string) => Promise<Principal>;

/** The number of requests answered in a minute. */
export interface RateLimits {
  /** Requests with one API key. */
  requestsPerMinute: number;
  /** Requests from one address without a good API key. */
  refusalsPerMinute: number;
}

/** More than one process answers: they keep off floods, and nobody who works. */
export const RATE_LIMITS: RateLimits = { requestsPerMinute: 600_000, refusalsPerMinute: 300 };

export interface PrincipalOptions {
  authenticate: Authenticate;
  rateLimits: RateLimits;
  clock: () => Date;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without an API key. */
    public?: boolean;
    /** The scope that the API key, or the role of the person, must have. */
    scope?: Scope;
    /** A page for whoever is signed in, whatever their role. */
    signedIn?: boolean;
    /** It is for people, who have sessions in the place of API keys. */
    isPage?: boolean;
  }
  interface FastifyRequest {
    /** Null where a route is public. */
    principal: Principal | null;
  }
}

/**
 * Requires `Authorization: Bearer <API key>` with the scope of the route on every route that is neither public nor a
 * page. A route that does not say who may cannot be registered. Who asks too often is told to wait.
 */
export function requirePrincipal(server: FastifyInstance, { authenticate, rateLimits, clock }: PrincipalOptions): void {
  const requests = new RateLimit('requests', rateLimits.requestsPerMinute, clock);
  const refusals = new RateLimit('refusals', rateLimits.refusalsPerMinute, clock);
  server.decorateRequest('principal', null);
  server.addHook('onRoute', refuseUndecided);
  server.addHook('onRequest', async (request, reply) => {
    const { public: isPublic, scope, signedIn, isPage } = request.routeOptions.config;
    if (isPublic === true || isPage === true) return;
    try {
      request.principal = await authenticate(bearerOf(request));
    } catch (error) {
      // A good key is answered whatever others at its address do: nobody guesses 256 bits.
      if (error instanceof DomainError) refusals.count(networkOf(request), reply);
      throw error;
    }
    requests.count(request.principal.id, reply);
    if (scope !== undefined) requireScope(request.principal, scope);
    if (signedIn === true) throw new DomainError('forbidden', 'this is for people who are signed in, not for API keys');
  });
}

/** The sender of a request, on a route that is not public. */
export function principalOf({ principal }: FastifyRequest): Principal {
  if (principal === null) throw new Error('a public route asks who its caller is');
  return principal;
}

/** @throws DomainError `forbidden` naming the scope. */
export function requireScope({ kind, name, scopes }: Principal, scope: Scope): void {
  if (scopes.includes(scope)) return;
  const who = kind === 'key' ? `the API key "${name}"` : name;
  throw new DomainError('forbidden', `this needs the scope ${scope}, which ${who} has not got`);
}

function refuseUndecided({ method, url, config }: RouteOptions): void {
  const said = [config?.public === true, config?.signedIn === true, config?.scope !== undefined];
  if (said.filter(Boolean).length !== 1)
    throw new Error(`the route ${method} ${url} must either be public or name its scope`);
}

/** RFC 9110 section 11.1: the scheme's name is case-insensitive. */
function bearerOf(request: FastifyRequest): string {
  const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined)
    throw new DomainError('unauthenticated', 'this request needs the header "Authorization: Bearer <API key>"');
  return token;
}
