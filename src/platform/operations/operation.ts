import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import { hangUpOf } from '../http/caller.ts';
import { isKnown, sendKnown } from '../http/etag.ts';
import { keyHeaderSchema } from '../http/fields.ts';
import { type Actor, actorOf, ownKey, type Principal, principalOf } from '../http/principal.ts';
import { type ProblemStatus, problemResponses } from '../http/responses.ts';
import type { MODULES } from '../modules.ts';
import type { Scope } from '../scopes.ts';

/** Schema of a body that is not read. */
const NOTHING = z.unknown();

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Input of an operation. */
export interface Asked<Params, Query, Body> {
  actor: Actor;
  params: Params;
  query: Query;
  body: Body;
  /** Idempotency key, which belongs to the caller; undefined if the request has none. */
  key: string | undefined;
}

/** Caller, for an operation that needs more than its input. */
export interface Caller {
  principal: Principal;
  address: string;
  userAgent: string | null;
  /** Returns a signal that aborts when the caller hangs up. */
  hangUp(): AbortSignal;
}

/** Operation of a service, from which its route, its OpenAPI entry and the call on pages are derived. */
// Over ten members: they describe one operation.
export interface Operation<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> {
  method: Method;
  /** Path below the service, with `:name` for each of `params`. */
  path: string;
  scope: Scope;
  tag: string;
  summary: string;
  description?: string;
  params?: Params;
  query?: Query;
  body?: Body;
  answer: Answer;
  /** Status of the answer; 200 by default. */
  status?: number;
  /** Statuses of its refusals, besides those of all operations. */
  refusals?: readonly ProblemStatus[];
  /** True if the operation accepts an idempotency key. */
  isKeyed?: true;
  /** True if caches must not store the answer. */
  isSecret?: true;
  /** Returns the version of the answer, for If-None-Match. */
  version?(): Promise<number>;
  work(
    asked: Asked<z.output<Params>, z.output<Query>, z.output<Body>>,
    caller: Caller,
  ): z.input<Answer> | Promise<z.input<Answer>>;
}

export type AnyOperation = Operation<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>;

/** Operations by their OpenAPI `operationId`. */
export type Operations = Record<string, AnyOperation>;

type Declared<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> = Omit<Operation<Params, Query, Body, Answer>, 'method' | 'path' | 'scope' | 'tag'> & { scope?: Scope };

/**
 * Returns functions that declare operations by method and path. GET requires the scope `SERVICE:read` by default, and
 * other methods `SERVICE:write`.
 * @param tag group in OpenAPI.
 */
export function operationGroup(service: (typeof MODULES)[number]['name'], tag: string) {
  const of =
    (method: Method) =>
    <
      Answer extends z.ZodType,
      Params extends z.ZodObject = z.ZodObject,
      Query extends z.ZodObject = z.ZodObject,
      Body extends z.ZodType = typeof NOTHING,
    >(
      path: string,
      declared: Declared<Params, Query, Body, Answer>,
    ): Operation<Params, Query, Body, Answer> => {
      const scope: Scope = `${service}:${method === 'GET' ? 'read' : 'write'}`;
      return { method, path, tag, scope, ...declared };
    };
  return { get: of('GET'), post: of('POST'), put: of('PUT'), patch: of('PATCH'), delete: of('DELETE') };
}

/** Returns the path of a call. @param api base path of the operations. @param params by name. */
export function callPath(api: string, { path }: Pick<AnyOperation, 'path'>, params: object = {}): string {
  const values = params as Record<string, string>;
  return `${api}${path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))}`;
}

/** Serves operations at their paths. */
export function serveOperations(server: FastifyInstance, operations: Operations): void {
  for (const [id, operation] of Object.entries(operations))
    server.route({
      method: operation.method,
      url: operation.path,
      prefixTrailingSlash: 'slash',
      config: { scope: operation.scope },
      schema: schemaOf(id, operation),
      handler: (request, reply) => respond(operation, request, reply),
    });
}

async function respond(operation: AnyOperation, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { status = 200, version, isSecret, work } = operation;
  if (version !== undefined && isKnown(reply, String(await version()))) return sendKnown(reply);
  const answer = await work(askedBy(request), callerOf(request, reply));
  if (isSecret) reply.header('cache-control', 'no-store');
  return reply.code(status).send(answer);
}

const NOTHING_NEW = z.undefined().describe('Nothing changed since the answer with the ETag in If-None-Match.');

function schemaOf(id: string, declared: AnyOperation): FastifySchema {
  const { tag, summary, description, params, query, body, answer, status = 200, version, refusals = [] } = declared;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...whereDefined({ description, params, querystring: query, body }),
    ...(declared.isKeyed ? { headers: keyHeaderSchema } : {}),
    response: {
      [status]: answer,
      ...(version === undefined ? {} : { 304: NOTHING_NEW }),
      ...problemResponses(...refusals),
    },
  };
}

/** Returns the input of a request, which its route has validated. */
export function askedBy<Params, Query, Body>(request: FastifyRequest): Asked<Params, Query, Body> {
  const { params, query, body, headers } = request;
  const principal = principalOf(request);
  return {
    actor: actorOf(principal),
    params: params as Params,
    query: query as Query,
    body: body as Body,
    key: ownKey(principal, headers['idempotency-key'] as string | undefined),
  };
}

/** Returns the caller of an operation. */
export function callerOf(request: FastifyRequest, reply: FastifyReply): Caller {
  const { ip: address, headers } = request;
  const userAgent = headers['user-agent'] ?? null;
  return { principal: principalOf(request), address, userAgent, hangUp: () => hangUpOf(reply) };
}
