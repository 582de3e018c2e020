import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { DomainError } from '../errors.ts';
import type { Scope } from '../scopes.ts';

/** Who asks, and what they may. */
export interface Principal {
  kind: 'key';
  /** Of the API key. */
  id: string;
  name: string;
  scopes: readonly Scope[];
}

/** Who presents this API key. @throws DomainError `unauthenticated`, `key_expired`, `key_revoked`. */
export type Authenticate = (presented: string) => Promise<Principal>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without an API key. */
    public?: boolean;
    /** What the API key must allow. */
    scope?: Scope;
  }
  interface FastifyRequest {
    /** Null where a route is public. */
    principal: Principal | null;
  }
}

/**
 * Requires `Authorization: Bearer <API key>` with the scope of the route on every route that is not public. A route that
 * says neither cannot be registered.
 */
export function requirePrincipal(server: FastifyInstance, authenticate: Authenticate): void {
  server.decorateRequest('principal', null);
  server.addHook('onRoute', refuseUndecided);
  server.addHook('onRequest', async (request) => {
    const { public: isPublic, scope } = request.routeOptions.config;
    if (isPublic === true) return;
    request.principal = await authenticate(bearerOf(request));
    if (scope !== undefined) requireScope(request.principal, scope);
  });
}

/** Who asks, on a route that is not public. */
export function principalOf({ principal }: FastifyRequest): Principal {
  if (principal === null) throw new Error('a public route asks who its caller is');
  return principal;
}

/** @throws DomainError `forbidden` naming the scope. */
export function requireScope({ name, scopes }: Principal, scope: Scope): void {
  if (!scopes.includes(scope))
    throw new DomainError('forbidden', `this needs the scope ${scope}, which the API key "${name}" has not got`);
}

function refuseUndecided({ method, url, config }: RouteOptions): void {
  if ((config?.public === true) === (config?.scope !== undefined))
    throw new Error(`the route ${method} ${url} must either be public or name its scope`);
}

/** RFC 9110 section 11.1: the scheme's name is case-insensitive. */
function bearerOf(request: FastifyRequest): string {
  const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined)
    throw new DomainError('unauthenticated', 'this request needs the header "Authorization: Bearer <API key>"');
  return token;
}
