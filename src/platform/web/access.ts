import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Principal, type RateLimits, requireScope } from '../http/principal.ts';
import { networkOf, RateLimit } from '../http/rate-limit.ts';
import { PAGES } from './own-path.ts';
import { sessionTokenOf } from './session-cookie.ts';

/** Signed-in person on a page. */
export interface SignedIn extends Principal {
  kind: 'person';
  email: string;
  /** Role as shown on pages. */
  role: string;
  /** CSRF token in every form of the session. */
  csrf: string;
  /** True if the person authenticated in the last minutes. */
  isProved: boolean;
  secondFactors: readonly ('authenticator' | 'passkey')[];
}

/** Returns the session of a token; null if there is none or it has ended. */
export type FindSignedIn = (token: string) => Promise<SignedIn | null>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the page requires an authentication in the last minutes. */
    proved?: boolean;
  }
  interface FastifyRequest {
    /** Signed-in person on a page; null for a visitor. */
    person: SignedIn | null;
  }
}

/** Error that redirects the browser to another page first. */
export class GoFirst extends Error {
  readonly to: string;

  constructor(to: string) {
    super(`go to ${to} first`);
    this.to = to;
  }
}

export interface AccessOptions {
  findSignedIn: FindSignedIn;
  rateLimits: RateLimits;
  clock: () => Date;
}

/**
 * Admits requests to pages by the route's requirement: a scope, any signed-in person, or none. Others are redirected to
 * sign in, or refused; if the page requires it, they authenticate again first.
 */
export function requirePerson(server: FastifyInstance, { findSignedIn, rateLimits, clock }: AccessOptions): void {
  const requests = new RateLimit('pages', rateLimits.requestsPerMinute, clock);
  const visits = new RateLimit('visits', rateLimits.refusalsPerMinute, clock);
  server.decorateRequest('person', null);
  server.addHook('onRequest', async (request, reply) => {
    const token = sessionTokenOf(request);
    request.person = token === null ? null : await findSignedIn(token);
    request.principal = request.person;
    if (request.person !== null) requests.count(request.person.id, reply);
    // A visitor's form may be as costly as checking a password.
    else if (!isReading(request)) visits.count(networkOf(request), reply);
    const { public: isPublic, scope, proved } = request.routeOptions.config;
    if (isPublic === true) return;
    if (request.person === null) throw new GoFirst(`${PAGES}/sign-in${thenOf(request)}`);
    if (scope !== undefined) requireScope(request.person, scope);
    if (proved === true && !request.person.isProved) throw new GoFirst(`${PAGES}/prove${thenOf(request)}`);
  });
}

/** Returns the signed-in person on a page that is not public. */
export function personOf({ person }: FastifyRequest): SignedIn {
  if (person === null) throw new Error('a public page asks who is signed in');
  return person;
}

export function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Returns the query with the path to return to. A submitted form is lost, so its page opens again. */
function thenOf({ url }: FastifyRequest): string {
  return url === `${PAGES}/` || url === PAGES ? '' : `?${new URLSearchParams([['then', url]])}`;
}
