import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { DomainError } from '../errors.ts';
import type { Scope } from '../scopes.ts';
import { networkOf, RateLimit } from './rate-limit.ts';

/** Authenticated sender of a request, with its rights. */
export interface Principal {
  kind: 'key' | 'person';
  /** Id of the API key or the person. */
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** Sole subject that the sender may act for, as named by a service: `endpoint:ID`. */
  boundTo?: string | null;
  /** First of the keys that were rotated into this one; `id` by default. Its idempotency keys belong to all of them. */
  lineage?: string;
  /** Entries that the sender may append; any by default. */
  limits?: AppendLimits;
}

/** Limits on the entries that an API key may append. Null stands for any. */
export interface AppendLimits {
  /** Patterns of stream ids, in which `*` stands for any text. */
  streams: readonly string[] | null;
  actor: string | null;
}

/** Actor with its rights; an actor cannot grant a scope that it lacks. */
export interface Actor {
  /** Name in acts: `key:ID`, `person:ID`, `command:NAME`. */
  name: string;
  scopes: readonly Scope[];
}

/** Returns the actor that a principal is. */
export function actorOf({ kind, id, scopes }: Principal): Actor {
  return { name: `${kind}:${id}`, scopes };
}

/**
 * Returns an idempotency key that belongs to its sender: another sender with the same key makes another request.
 * Undefined stands for none.
 */
export function ownKey<Key extends string | undefined>({ kind, id, lineage = id }: Principal, key: Key): Key {
  return (key === undefined ? key : JSON.stringify([kind, lineage, key])) as Key;
}

/** @throws DomainError `forbidden` if the sender must not append to a stream, or not as an actor. */
export function refuseBeyond({ name, limits }: Principal, entry: { stream_id: string; actor?: string }): void {
  const { streams = null, actor = null } = limits ?? {};
  if (streams?.some((pattern) => isLike(entry.stream_id, pattern)) === false)
    throw new DomainError(
      'forbidden',
      `the API key "${name}" may append only to ${streams.join(', ')}`,
      {},
      'stream_id',
    );
  if (actor !== null && entry.actor !== undefined && entry.actor !== actor)
    throw new DomainError('forbidden', `the API key "${name}" may append only as the actor ${actor}`, {}, 'actor');
}

/** Reports whether a text is like a pattern, in which `*` stands for any text. */
export function isLike(text: string, pattern: string): boolean {
  const [start = '', ...pieces] = pattern.split('*');
  const end = pieces.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - end.length >= at && text.endsWith(end);
}

/** Authenticates an API key. @throws DomainError `unauthenticated`, `key_expired`, `key_revoked`. */
export type Authenticate = (presented: string) => Promise<Principal>;

/** Maximum numbers of requests in a minute. */
export interface RateLimits {
  /** Requests with one API key. */
  requestsPerMinute: number;
  /** Requests from one address without a valid API key. */
  refusalsPerMinute: number;
}

/** Default limits, which stop floods without hindering regular use. */
export const RATE_LIMITS: RateLimits = { requestsPerMinute: 600_000, refusalsPerMinute: 300 };

export interface PrincipalOptions {
  authenticate: Authenticate;
  rateLimits: RateLimits;
  clock: () => Date;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route without authentication. */
    public?: boolean;
    /** Scope that the API key, or the role of the person, must have. */
    scope?: Scope;
    /** True for a page that requires a signed-in person of any role. */
    signedIn?: boolean;
    /** True for pages, which authenticate people by sessions instead of API keys. */
    isPage?: boolean;
  }
  interface FastifyRequest {
    /** Authenticated sender; null on a public route. */
    principal: Principal | null;
  }
}

/**
 * Requires `Authorization: Bearer <API key>` with the scope of the route on every route that is neither public nor a
 * page. A route without a declared scope cannot be registered. Limits the rate of requests.
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
      // A valid key is always answered, whatever other clients at its address do, because guessing 256 bits is
      // infeasible.
      if (error instanceof DomainError) refusals.count(networkOf(request), reply);
      throw error;
    }
    requests.count(request.principal.id, reply);
    if (scope !== undefined) requireScope(request.principal, scope);
    if (signedIn === true) throw new DomainError('forbidden', 'this requires a signed-in person, not an API key');
  });
}

/** Returns the sender of a request on a route that is not public. */
export function principalOf({ principal }: FastifyRequest): Principal {
  if (principal === null) throw new Error('a public route asks who its caller is');
  return principal;
}

/** @throws DomainError `forbidden` with the missing scope. */
export function requireScope({ kind, name, scopes }: Principal, scope: Scope): void {
  if (scopes.includes(scope)) return;
  const who = kind === 'key' ? `the API key "${name}"` : name;
  throw new DomainError('forbidden', `this requires the scope ${scope}, which ${who} does not have`);
}

function refuseUndecided({ method, url, config }: RouteOptions): void {
  const said = [config?.public === true, config?.signedIn === true, config?.scope !== undefined];
  if (said.filter(Boolean).length !== 1)
    throw new Error(`the route ${method} ${url} must either be public or name its scope`);
}

/** Returns the bearer token. The scheme is case-insensitive (RFC 9110 section 11.1). */
function bearerOf(request: FastifyRequest): string {
  const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined)
    throw new DomainError('unauthenticated', 'this request requires the header "Authorization: Bearer <API key>"');
  return token;
}
