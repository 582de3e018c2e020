import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import { type ActView, insteadOfAct } from '../web/acts.ts';
import type { Access } from '../web/forms.ts';
import { askedReason, reasonField } from '../web/reason.ts';
import { serveOperationForm } from './form.ts';
import type { Operation } from './operation.ts';

/** Page that performs an operation with a single button. */
export interface OperationAct<Params, Answer, Subject> {
  /** Path of the page, with the names of the operation's `params`. */
  path: string;
  /** Path of the API that the operation belongs to. */
  api: string;
  /** Rights for the page; the scope of the operation by default. */
  access?: Access;
  /** Reads the subject of the operation. @throws DomainError `not_found`. */
  subject(params: Params): Promise<Subject>;
  view(subject: Subject): ActView;
  /** Returns a notice of the result. */
  notice(subject: Subject, answer: Answer): string;
  /** Path of the next page; that of the cancel link by default. */
  next?: string;
}

const NOTHING = z.object({});
const REASON = z.object({ reason: askedReason });

/** Serves the page of an operation without a body, or with a reason as its body, for which the page has a field. */
export function serveOperationAct<Params extends z.ZodObject, Answer extends z.ZodType, Subject>(
  server: FastifyInstance,
  operation: Operation<Params, z.ZodObject, z.ZodUnknown | z.ZodType<{ reason: string }>, Answer>,
  { path, api, access, subject, view, notice, next }: OperationAct<z.output<Params>, z.input<Answer>, Subject>,
): void {
  const isReasoned = operation.body !== undefined;
  serveOperationForm(server, operation, {
    path,
    api,
    subject,
    schema: isReasoned ? REASON : NOTHING,
    ...whereDefined({ access, example: isReasoned ? () => ({ reason: 'why' }) : undefined }),
    view({ form }, found) {
      const { back, ...page } = view(found);
      const fields = isReasoned ? reasonField(form, { isFirst: true }) : null;
      return { ...page, isNarrow: true, fields, instead: insteadOfAct(back) };
    },
    done: (answer, found) => ({ notice: notice(found, answer), next: next ?? view(found).back }),
  });
}
