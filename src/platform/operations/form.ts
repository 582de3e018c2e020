import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import type { MarkupContent } from '../../core/html/markup.ts';
import { ownKey, principalOf } from '../http/principal.ts';
import { paramsOf } from '../web/asked.ts';
import { type PostForm, postForm } from '../web/fields.ts';
import { type Access, type AskedForm, type Done, serveForm } from '../web/forms.ts';
import type { PageView } from '../web/layout.ts';
import { askedBy, callerOf, callPath, type Operation } from './operation.ts';

/** Content of a page with a form. */
interface FormView extends Omit<PageView, 'content' | 'api'>, Omit<PostForm, 'action'> {
  /** Content above and below the form. */
  before?: MarkupContent;
  after?: MarkupContent;
}

/** Form of an operation. */
export interface OperationForm<Params, Body, Answer, Subject> {
  /** Path of the page, with the names of the operation's `params`. */
  path: string;
  /** Path of the API that the operation belongs to. */
  api: string;
  /** Rights for the page; the scope of the operation by default. */
  access?: Access;
  /** Reads the fields as the body of the operation, and `once` as its idempotency key. */
  schema: z.ZodType<Body & { once?: string }>;
  /** Fields by the codes of the refusals shown next to them; other refusals are shown above the form. */
  refused?: Readonly<Record<string, string>>;
  /** Reads the subject of the operation before the operation runs. @throws DomainError `not_found`. */
  subject?(params: Params): Subject | Promise<Subject>;
  view(asked: AskedForm, subject: Subject): FormView | Promise<FormView>;
  /** Example body for the API call shown on the page. */
  example?(subject: Subject): object;
  done(answer: Answer, subject: Subject, request: FastifyRequest): Done;
}

/** Serves the form of an operation, with the equivalent API call. */
export function serveOperationForm<
  Params extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Subject,
>(
  server: FastifyInstance,
  operation: Operation<Params, z.ZodObject, Body, Answer>,
  page: OperationForm<z.output<Params>, z.output<Body>, z.input<Answer>, Subject>,
): void {
  const { method, scope, params, work } = operation;
  const { path, api, access = { scope }, schema, refused, view, example, done } = page;
  const find = async (of: z.output<Params>) => (await page.subject?.(of)) as Subject;
  serveForm(server, {
    path,
    access,
    schema,
    ...whereDefined({ params, fields: refused }),
    async show(asked) {
      const of = paramsOf<z.output<Params>>(asked.request);
      const subject = await find(of);
      const { before, after, fields, submit, isFinal, instead, ...page } = await view(asked, subject);
      const form = postForm(asked, { fields, submit, ...whereDefined({ isFinal, instead }) });
      const call = { method, path: callPath(api, operation, of) };
      return {
        ...page,
        content: [before ?? null, form, after ?? null],
        api: example === undefined ? call : { ...call, body: example(subject) },
      };
    },
    async act({ once, ...body }, request, reply) {
      const key = ownKey(principalOf(request), once);
      const asked = askedBy<z.output<Params>, Record<string, unknown>, unknown>(request);
      const subject = await find(asked.params);
      const answer = await work({ ...asked, body: body as z.output<Body>, key }, callerOf(request, reply));
      return done(answer, subject, request);
    },
  });
}
