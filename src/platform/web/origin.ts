import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** The origin where people reach the platform, if it was said. */
    publicUrl: string | null;
  }
}

export function rememberOrigin(server: FastifyInstance, publicUrl: string | null): void {
  server.decorate('publicUrl', publicUrl);
}

/** The API's address for the reader of a page: the configured one, else the origin of the page. */
export function apiOrigin({ server, protocol, host }: FastifyRequest): string {
  return server.publicUrl ?? `${protocol}://${host}`;
}
