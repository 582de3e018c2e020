import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import type { PageView } from '../web/layout.ts';
import { type PageAsked, servePage } from '../web/page.ts';
import { askedBy, callerOf, callPath, type Operation } from './operation.ts';

/** Page of an operation that reads. */
interface OperationPage<Params, Answer, Query extends z.ZodType> {
  /** Path of the page below `/app`, with the names of the operation's `params`. */
  path: string;
  /** Path of the API that the operation belongs to. */
  api: string;
  /** Query of the page. The operation itself has none. */
  query?: Query;
  view(answer: Answer, asked: PageAsked<Params, z.output<Query>>): PageView | Promise<PageView>;
}

/** Serves the answer of a read operation as a page, with the equivalent API call unless the view names another. */
export function serveOperationPage<
  Params extends z.ZodObject,
  Answer extends z.ZodType,
  Query extends z.ZodType = z.ZodUnknown,
>(
  server: FastifyInstance,
  operation: Operation<Params, z.ZodObject, z.ZodUnknown, Answer>,
  { path, api, query, view }: OperationPage<z.output<Params>, z.input<Answer>, Query>,
): void {
  const { scope, params, work } = operation;
  servePage<Params, Query>(server, {
    path,
    access: { scope },
    ...whereDefined({ params, query }),
    async view(asked) {
      const { request, reply } = asked;
      const answer = await work(askedBy(request), callerOf(request, reply));
      return { api: { path: callPath(api, operation, asked.params) }, ...(await view(answer, asked)) };
    },
  });
}
