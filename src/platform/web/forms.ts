import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ownOrPlainWords } from '../../core/schema-words.ts';
import { DomainError } from '../errors.ts';
import { headersOf, toProblem } from '../http/problem.ts';
import type { PageView } from './layout.ts';
import { leaveNotice } from './session-cookie.ts';

/** A form as it was sent, for the page that shows it again. Empty the first time. */
export interface FormState {
  /** As they were typed; what was left out is not there. */
  values: Readonly<Record<string, string | readonly string[]>>;
  /** Errors by field. */
  errors: Readonly<Record<string, string>>;
  /** An error that belongs to no field. */
  refusal: string | null;
}

const NEW_FORM: FormState = { values: {}, errors: {}, refusal: null };

/** A form that is shown, and the request that it is for. */
export interface AskedForm {
  form: FormState;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Path of the next page, with what that page says; or a page that is shown this once. */
export type Done = string | { notice: string; next: string } | PageView;

/** The rights that a form needs, to be seen and sent. */
export type Access = Pick<FastifyContextConfig, 'public' | 'scope' | 'signedIn' | 'proved'>;

/** A page with a form, and what is done with what is sent. */
export interface FormPage<S extends z.ZodType> {
  path: string;
  access: Access;
  /** The parameters in its path. A wrong one is refused before anything is looked up. */
  params?: z.ZodObject;
  schema: S;
  /** The field that a refusal is shown beside, by its code; others stand above the form. */
  fields?: Readonly<Record<string, string>>;
  /** A page with a status of its own, as for what is not there any more, has it also after a POST. */
  show(asked: AskedForm): PageView | Promise<PageView>;
  /** Does it. A `DomainError` shows the form again, with all that was typed but passwords and codes. */
  act(data: z.output<S>, request: FastifyRequest, reply: FastifyReply): Promise<Done>;
}

/** Serves a form at its path: GET shows it, POST takes it and goes on with 303. */
export function serveForm<S extends z.ZodType>(server: FastifyInstance, page: FormPage<S>): void {
  const { path, access, params, schema, fields = {} } = page;
  const options = { config: access, schema: { hide: true, ...(params === undefined ? {} : { params }) } };
  server.get(path, options, async (request, reply) => reply.page(await page.show({ form: NEW_FORM, request, reply })));
  server.post(path, options, async (request, reply) => {
    const body = (request.body ?? {}) as Record<string, string | string[]>;
    const again = async (form: Omit<FormState, 'values'>, status: number) => {
      const view = await page.show({ form: { values: withoutSecrets(body), ...form }, request, reply });
      return reply.page({ status, ...view });
    };
    const read = schema.safeParse(body);
    if (!read.success) return again({ errors: errorsOf(read.error), refusal: null }, 422);
    try {
      const done = await page.act(read.data, request, reply);
      if (typeof done === 'string') return reply.redirect(done, 303);
      if (!('next' in done)) return reply.page(done);
      leaveNotice(reply, done.notice);
      return reply.redirect(done.next, 303);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const problem = toProblem(error);
      const field = fields[error.code];
      reply.headers(headersOf(problem));
      if (field !== undefined)
        return again({ errors: { [field]: sentence(error.message) }, refusal: null }, problem.status);
      return again({ errors: {}, refusal: sentence(problem.message) }, problem.status);
    }
  });
}

/** Passwords, secrets and codes are typed anew. */
const SECRET = /password|^secret|^code$|^csrf$/;

function withoutSecrets(body: Record<string, string | string[]>): FormState['values'] {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !SECRET.test(name)));
}

/** The first thing that is wrong with each field, in their order. */
function errorsOf({ issues }: z.ZodError): Record<string, string> {
  const errors = new Map<string, string>();
  for (const issue of issues) {
    const name = String(issue.path[0] ?? '');
    if (!errors.has(name)) errors.set(name, sentence(ownOrPlainWords(issue)));
  }
  return Object.fromEntries(errors);
}

/** A message as a sentence of its own. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
