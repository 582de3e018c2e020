import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import { paramsOf, queryOf } from './asked.ts';
import type { Access } from './forms.ts';
import type { PageView } from './layout.ts';

/** Query of a page with one list. */
export const cursorSchema = z.object({ cursor: z.string().optional() });

/** Request for a page, with its parameters and query parsed by the schemas of the route. */
export interface PageAsked<Params, Query> {
  request: FastifyRequest;
  reply: FastifyReply;
  params: Params;
  query: Query;
}

/** Page that only reads. */
interface ShownPage<Params extends z.ZodObject, Query extends z.ZodType> {
  /** Path below `/app`. */
  path: string;
  access: Access;
  params?: Params;
  query?: Query;
  view(asked: PageAsked<z.output<Params>, z.output<Query>>): PageView | Promise<PageView>;
}

/** Serves a page at its path. */
export function servePage<Params extends z.ZodObject = z.ZodObject, Query extends z.ZodType = z.ZodUnknown>(
  server: FastifyInstance,
  { path, access, params, query, view }: ShownPage<Params, Query>,
): void {
  const schema: FastifySchema = { hide: true, ...whereDefined({ params, querystring: query }) };
  server.get(path, { config: access, schema }, async (request, reply) => {
    const asked = {
      request,
      reply,
      params: paramsOf<z.output<Params>>(request),
      query: queryOf<z.output<Query>>(request),
    };
    return reply.page(await view(asked));
  });
}
