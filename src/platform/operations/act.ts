import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import { type ActView, type AskedFirst, serveAct } from '../web/acts.ts';
import { paramsOf } from '../web/asked.ts';
import type { Access } from '../web/forms.ts';
import { askedReason, reasonField } from '../web/reason.ts';
import { askedBy, callerOf, callPath, type Operation } from './operation.ts';

/** The page of an operation that people carry out with one button. */
export interface OperationAct<Params, Answer, Subject> {
  /** Path of the page, with the names of the operation's `params`. */
  path: string;
  /** Path of the API that the operation is of. */
  api: string;
  /** Rights that the page asks for; the scope of the operation by default. */
  access?: Access;
  /** Reads what is acted upon. @throws DomainError `not_found`. */
  subject(params: Params): Promise<Subject>;
  view(subject: Subject): Omit<ActView, 'api'>;
  /** Says what was done. */
  notice(subject: Subject, answer: Answer): string;
  /** Path of the page after the act; the way back by default. */
  next?: string;
}

const REASON: AskedFirst = {
  schema: z.object({ reason: askedReason }),
  fields: (form) => reasonField(form, { isFirst: true }),
};

/** Serves the page of an operation without a body, or of one whose body is a reason: the page then asks for it. */
export function serveOperationAct<Params extends z.ZodObject, Answer extends z.ZodType, Subject>(
  server: FastifyInstance,
  operation: Operation<Params, z.ZodObject, z.ZodUnknown | z.ZodType<{ reason: string }>, Answer>,
  { path, api, access, subject, view, notice, next }: OperationAct<z.output<Params>, z.input<Answer>, Subject>,
): void {
  const { method, scope, params: schema, body, work } = operation;
  const isReasoned = body !== undefined;
  serveAct(server, {
    path,
    access: access ?? { scope },
    ...whereDefined({ params: schema, asked: isReasoned ? REASON : undefined }),
    async view(request) {
      const params = paramsOf<z.output<Params>>(request);
      const call = { method, path: callPath(api, operation, params) };
      return { ...view(await subject(params)), api: isReasoned ? { ...call, body: { reason: 'why' } } : call };
    },
    async act(request, given, reply) {
      const asked = askedBy<z.output<Params>, Record<string, unknown>, unknown>(request);
      const found = await subject(asked.params);
      const answer = await work({ ...asked, body: isReasoned ? given : undefined }, callerOf(request, reply));
      return { notice: notice(found, answer), next: next ?? view(found).back };
    },
  });
}
