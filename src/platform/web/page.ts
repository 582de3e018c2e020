import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import { paramsOf, queryOf } from './asked.ts';
import type { Access } from './forms.ts';
import type { PageView } from './layout.ts';

/** Query of a page with one list. */
export const cursorSchema = z.object({ cursor: z.string().optional() });

/** A request for a page; the schemas of its route have read the parts of it. */
export interface PageAsked<Params, Query> {
  request: FastifyRequest;
  reply: FastifyReply;
  params: Params;
  query: Query;
}

/** A page that shows something. */
interface ShownPage<Params extends z.ZodObject, Query extends z.ZodType> {
  /** Below `/app`. */
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
