import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import { type Actor, actorOf } from '../accounts/administration.ts';
import { keyHeaderSchema } from '../http/fields.ts';
import { principalOf } from '../http/principal.ts';
import { type ProblemStatus, problemResponses } from '../http/responses.ts';
import type { Scope } from '../scopes.ts';

/** Stands for a body that is not read. */
const NOTHING = z.unknown();

/** Input of an operation. */
export interface Asked<Params, Body> {
  actor: Actor;
  params: Params;
  body: Body;
  /** The idempotency key; undefined for a request without one. */
  key: string | undefined;
}

/**
 * Something that a service does on request: its route, its description in OpenAPI and the call that pages show follow
 * from this value.
 */
// Over ten members: they are what there is to say of an operation.
export interface Operation<Params extends z.ZodObject, Body extends z.ZodType, Answer extends z.ZodType> {
  /** `operationId` of OpenAPI. */
  id: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the service, with `:name` for each of `params`. */
  path: string;
  scope: Scope;
  tag: string;
  summary: string;
  params?: Params;
  body?: Body;
  answer: Answer;
  /** Status of the answer; 200 by default. */
  status?: number;
  /** Statuses of its refusals, besides those of all operations. */
  refusals?: readonly ProblemStatus[];
  /** True if it takes an idempotency key. */
  isKeyed?: true;
  work(asked: Asked<z.output<Params>, z.output<Body>>): Promise<z.input<Answer>>;
}

export type AnyOperation = Operation<z.ZodObject, z.ZodType, z.ZodType>;

/** Declares an operation. */
export function operation<
  Answer extends z.ZodType,
  Params extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = typeof NOTHING,
>(declared: Operation<Params, Body, Answer>): Operation<Params, Body, Answer> {
  return declared;
}

/** Returns the path of a call. @param service that the operation is of. @param params by name. */
export function callPath(service: string, { path }: Pick<AnyOperation, 'path'>, params: object = {}): string {
  const values = params as Record<string, string>;
  return `/${service}${path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))}`;
}

/** Serves operations at their paths. */
export function serveOperations(server: FastifyInstance, operations: readonly AnyOperation[]): void {
  for (const { status = 200, ...operation } of operations)
    server.route({
      method: operation.method,
      url: operation.path,
      config: { scope: operation.scope },
      schema: schemaOf(operation, status),
      handler: async (request, reply) => reply.code(status).send(await operation.work(askedBy(request))),
    });
}

function schemaOf(
  { id, tag, summary, params, body, answer, refusals = [], isKeyed }: AnyOperation,
  status: number,
): FastifySchema {
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(isKeyed ? { headers: keyHeaderSchema } : {}),
    ...(params === undefined ? {} : { params }),
    ...(body === undefined ? {} : { body }),
    response: { [status]: answer, ...problemResponses(...refusals) },
  };
}

/** Returns what a request asks for; its route has read the parts of it. */
function askedBy(request: FastifyRequest): Asked<Record<string, unknown>, unknown> {
  const { params, body, headers } = request;
  const key = headers['idempotency-key'] as string | undefined;
  return { actor: actorOf(principalOf(request)), params: params as Record<string, unknown>, body, key };
}
