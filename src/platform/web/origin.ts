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

/** Where the API is for who looks at a page: where it was said to be, else where the page came from. */
export function apiOrigin({ server, protocol, host }: FastifyRequest): string {
  return server.publicUrl ?? `${protocol}://${host}`;
}
