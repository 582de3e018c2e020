import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Principal, type RateLimits, requireScope } from '../http/principal.ts';
import { networkOf, RateLimit } from '../http/rate-limit.ts';
import { PAGES } from './own-path.ts';
import { sessionTokenOf } from './session-cookie.ts';

/** Somebody who is signed in, as pages know them. */
export interface SignedIn extends Principal {
  kind: 'person';
  email: string;
  /** As it is shown. */
  role: string;
  /** Stands in every form of the session. */
  csrf: string;
  /** They proved within the last minutes who they are. */
  isProved: boolean;
  secondFactors: readonly ('authenticator' | 'passkey')[];
}

/** Finds the session of a token; null if there is none, or it has ended. */
export type FindSignedIn = (token: string) => Promise<SignedIn | null>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Requires a proof of identity within the last minutes. */
    proved?: boolean;
  }
  interface FastifyRequest {
    /** The person signed in, on pages; null for a visitor. */
    person: SignedIn | null;
  }
}

/** Thrown in the place of an answer: the browser is to go elsewhere first. */
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
 * Lets on a page whoever may: with the scope of its route, whoever is signed in, or everybody. Others sign in first, or
 * are refused; where it is asked for, they prove first who they are.
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
    // A visitor's form may cost as much as a password does.
    else if (!isReading(request)) visits.count(networkOf(request), reply);
    const { public: isPublic, scope, proved } = request.routeOptions.config;
    if (isPublic === true) return;
    if (request.person === null) throw new GoFirst(`${PAGES}/sign-in${thenOf(request)}`);
    if (scope !== undefined) requireScope(request.person, scope);
    if (proved === true && !request.person.isProved) throw new GoFirst(`${PAGES}/prove${thenOf(request)}`);
  });
}

/** The person signed in, on a page that is not public. */
export function personOf({ person }: FastifyRequest): SignedIn {
  if (person === null) throw new Error('a public page asks who is signed in');
  return person;
}

export function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The path to return to. A sent form is lost, so its page opens again. */
function thenOf({ url }: FastifyRequest): string {
  return url === `${PAGES}/` || url === PAGES ? '' : `?${new URLSearchParams([['then', url]])}`;
}
