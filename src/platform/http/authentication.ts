import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { KeyStore } from '../accounts/store.ts';
import { DomainError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without an API key. */
    public?: boolean;
  }
  interface FastifyRequest {
    /** Who asks: the id of an API key. Empty where a route is public. */
    principal: string;
  }
}

/** Requires `Authorization: Bearer <API key>` on every route of `server` whose config does not say `public`. */
export function requireKey(server: FastifyInstance, keys: KeyStore): void {
  server.decorateRequest('principal', '');
  server.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.public === true) return;
    const token = bearerOf(request);
    if (token === null)
      throw new DomainError('unauthenticated', 'this request needs the header "Authorization: Bearer <API key>"');
    const keyId = await keys.authenticate(token);
    if (keyId === null)
      throw new DomainError('unauthenticated', 'the API key is not one of this service, or was revoked');
    request.principal = keyId;
  });
}

/** RFC 9110 section 11.1: the scheme's name is case-insensitive. */
function bearerOf(request: FastifyRequest): string | null {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}
