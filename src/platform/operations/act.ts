import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { actorOf } from '../accounts/administration.ts';
import { principalOf } from '../http/principal.ts';
import { type ActView, serveAct } from '../web/acts.ts';
import { paramsOf } from '../web/asked.ts';
import { callPath, type Operation } from './operation.ts';

/** The page of an operation that people carry out with one button. */
export interface OperationAct<Params, Answer, Subject>
  extends Pick<ActView, 'above' | 'back' | 'introduction' | 'isFinal' | 'submit'> {
  /** Of the page, with the names of the operation's `params`. */
  path: string;
  /** The service that the operation is of. */
  service: string;
  /** Reads what is acted upon. @throws DomainError `not_found`. */
  subject(params: Params): Promise<Subject>;
  title(subject: Subject): string;
  /** Says what was done. */
  notice(subject: Subject, answer: Answer): string;
}

export function serveOperationAct<
  Params extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Subject,
>(
  server: FastifyInstance,
  operation: Operation<Params, Body, Answer>,
  { path, service, subject, title, notice, ...view }: OperationAct<z.output<Params>, z.input<Answer>, Subject>,
): void {
  const { method, scope, params: schema, example, work } = operation;
  serveAct(server, {
    path,
    access: { scope },
    ...(schema === undefined ? {} : { params: schema }),
    async view(request) {
      const params = paramsOf<z.output<Params>>(request);
      const body = example === undefined ? {} : { body: example };
      const api = { method, path: callPath(service, operation, params), ...body };
      return { ...view, title: title(await subject(params)), api };
    },
    async act(request) {
      const params = paramsOf<z.output<Params>>(request);
      const found = await subject(params);
      const body = undefined as z.output<Body>;
      const answer = await work({ actor: actorOf(principalOf(request)), params, body, key: undefined });
      return { notice: notice(found, answer), next: view.back };
    },
  });
}
