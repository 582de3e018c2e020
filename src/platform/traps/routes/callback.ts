import type { FastifyPluginAsync } from 'fastify';
import type { DecoyDeps } from '../decoys/decoy.ts';
import { rawHead } from '../decoys/raw-http.ts';

/** A GIF of one transparent pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** Takes the calls of web bugs that lead to the platform itself. Everybody gets the same answer. */
export const callbackRoutes: FastifyPluginAsync<{ deps: DecoyDeps }> = async (server, { deps }) => {
  server.get<{ Params: { token: string } }>(
    '/t/:token.gif',
    { config: { public: true }, schema: { hide: true } },
    async (request, reply) => {
      const trap = await deps.find([{ kind: 'path', value: request.params.token }]);
      if (trap !== null)
        await deps.record({
          trapNo: trap.trapNo,
          channel: 'http',
          depth: 'read',
          eventTime: deps.clock().toISOString(),
          sourceEventId: null,
          sourceIp: request.ip,
          userAgent: request.headers['user-agent'] ?? null,
          action: `GET ${request.url.split('?', 1)[0]}`,
          service: 'http',
          region: null,
          authVerified: null,
          request: rawHead(request.raw),
        });
      return reply.header('cache-control', 'no-store').type('image/gif').send(PIXEL);
    },
  );
};
