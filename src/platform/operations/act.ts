import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { actorOf, principalOf } from '../http/principal.ts';
import { type ActView, serveAct } from '../web/acts.ts';
import { paramsOf } from '../web/asked.ts';
import { callerOf, callPath, type Operation } from './operation.ts';

/** The page of an operation that people carry out with one button. */
export interface OperationAct<Params, Answer, Subject>
  extends Pick<ActView, 'above' | 'back' | 'introduction' | 'isFinal' | 'submit'> {
  /** Path of the page, with the names of the operation's `params`. */
  path: string;
  /** The service that the operation is of. */
  service: string;
  /** Reads what is acted upon. @throws DomainError `not_found`. */
  subject(params: Params): Promise<Subject>;
  title(subject: Subject): string;
  /** Says what was done. */
  notice(subject: Subject, answer: Answer): string;
}

/** Serves the page of an operation that needs no body. */
export function serveOperationAct<Params extends z.ZodObject, Answer extends z.ZodType, Subject>(
  server: FastifyInstance,
  operation: Operation<Params, z.ZodObject, z.ZodUnknown, Answer>,
  { path, service, subject, title, notice, ...view }: OperationAct<z.output<Params>, z.input<Answer>, Subject>,
): void {
  const { method, scope, params: schema, work } = operation;
  serveAct(server, {
    path,
    access: { scope },
    ...(schema === undefined ? {} : { params: schema }),
    async view(request) {
      const params = paramsOf<z.output<Params>>(request);
      const api = { method, path: callPath(service, operation, params) };
      return { ...view, title: title(await subject(params)), api };
    },
    async act(request, _given, reply) {
      const params = paramsOf<z.output<Params>>(request);
      const found = await subject(params);
      const actor = actorOf(principalOf(request));
      const asked = { actor, params, query: {}, body: undefined, key: undefined };
      const answer = await work(asked, callerOf(request, reply));
      return { notice: notice(found, answer), next: view.back };
    },
  });
}
