import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import type { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import type { MarkupContent } from '../../core/html/markup.ts';
import { queryOf } from '../web/asked.ts';
import { further } from '../web/components.ts';
import { filterForm, filtersOf } from '../web/filters.ts';
import type { PageView } from '../web/layout.ts';
import { PAGES, type Query, withQuery } from '../web/own-path.ts';
import { LIST_ROWS } from '../web/rows.ts';
import { askedBy, callerOf, callPath, type Operation } from './operation.ts';

/** Page of a list, as answered by an operation. */
interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** List on a page. */
export interface ListShown<Filter> {
  request: FastifyRequest;
  /** Filters of the request, without its cursor. */
  filter: Filter;
  /** True if there are no filters. */
  isAll: boolean;
}

/** Page of an operation that returns a list. */
export interface OperationList<Params, Filter, Row> {
  /** Path of the page below `/app`, with the names of the operation's `params`. */
  path: string;
  /** Path of the API that the operation belongs to. */
  api: string;
  /** Returns the head of the page. @throws DomainError `not_found`. */
  head(params: Params): Omit<PageView, 'content'> | Promise<Omit<PageView, 'content'>>;
  /** Renders content above the list. */
  before?(request: FastifyRequest): MarkupContent;
  /** Renders the fields of the filter form. */
  filters?(filter: Filter): MarkupContent;
  table(rows: readonly Row[], shown: ListShown<Filter>, params: Params): MarkupContent;
  /** Renders content below the list. */
  after?(rows: readonly Row[]): MarkupContent;
}

/**
 * Serves the page of an operation that returns a list: its filters, its rows, links to further pages, and the
 * equivalent call of the API.
 */
export function serveOperationList<Params extends z.ZodObject, Filter extends z.ZodObject, Answer extends z.ZodType>(
  server: FastifyInstance,
  operation: Operation<Params, Filter, z.ZodUnknown, Answer>,
  list: OperationList<z.output<Params>, z.output<Filter>, RowOf<Answer>>,
): void {
  const { scope, params: paramsSchema, query, work } = operation;
  const { path, api, head, before, filters, table, after } = list;
  const querystring = query === undefined ? undefined : filtersOf(query.omit({ limit: true }));
  const schema: FastifySchema = { hide: true, ...whereDefined({ querystring, params: paramsSchema }) };
  server.get(path, { config: { scope }, schema }, async (request, reply) => {
    const asked = askedBy<z.output<Params>, z.output<Filter>, undefined>(request);
    const { params } = asked;
    const { cursor, ...given } = queryOf<Query>(request);
    const filter = given as z.output<Filter>;
    const input = { ...asked, query: { ...asked.query, limit: LIST_ROWS } };
    const { data, next_cursor } = (await work(input, callerOf(request, reply))) as Page<RowOf<Answer>>;
    const at = callPath(PAGES, { path }, params);
    const isAll = Object.values(given).every((value) => value === undefined);
    return reply.page({
      ...(await head(params)),
      content: [
        before?.(request) ?? null,
        filters === undefined ? null : filterForm(at, given, filters(filter)),
        table(data, { request, filter, isAll }, params),
        further(at, { ...given, cursor }, next_cursor),
        after?.(data) ?? null,
      ],
      api: { path: withQuery(callPath(api, operation, params), given) },
    });
  });
}

type RowOf<Answer extends z.ZodType> = z.input<Answer> extends Page<infer Row> ? Row : never;
