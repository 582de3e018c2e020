import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { KeyStore } from '../accounts/store.ts';
import { HttpProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without an API key. */
    public?: boolean;
  }
}

/** Requires `Authorization: Bearer <API key>` on every route of `server` whose config does not say `public`. */
export function requireKey(server: FastifyInstance, keys: KeyStore): void {
  server.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.public === true) return;
    const token = bearerOf(request);
    if (token === null)
      throw new HttpProblem(401, 'unauthenticated', 'this request needs the header "Authorization: Bearer <API key>"');
    if (keys.authenticate(token) === null)
      throw new HttpProblem(401, 'unauthenticated', 'the API key is not one of this service, or was revoked');
  });
}

/** RFC 9110 section 11.1: the scheme's name is case-insensitive. */
function bearerOf(request: FastifyRequest): string | null {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}
