import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Public origin of the platform, if configured. */
    publicUrl: string | null;
  }
}

export function rememberOrigin(server: FastifyInstance, publicUrl: string | null): void {
  server.decorate('publicUrl', publicUrl);
}

/** Returns the API's address for the reader of a page: the configured one, or else the origin of the page. */
export function apiOrigin({ server, protocol, host }: FastifyRequest): string {
  return server.publicUrl ?? `${protocol}://${host}`;
}
