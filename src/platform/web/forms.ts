import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ownOrPlainWords } from '../../core/schema-words.ts';
import { DomainError } from '../errors.ts';
import { headersOf, toProblem } from '../http/problem.ts';
import type { PageView } from './layout.ts';
import { leaveNotice } from './session-cookie.ts';

/** Submitted form, for the page that shows it again; empty at first. */
export interface FormState {
  /** Values as typed; absent fields are missing. */
  values: Readonly<Record<string, string | readonly string[]>>;
  /** Errors by field. */
  errors: Readonly<Record<string, string>>;
  /** Error that belongs to no field. */
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

/** Rights for viewing and submitting a form. */
export type Access = Pick<FastifyContextConfig, 'public' | 'scope' | 'signedIn' | 'proved'>;

/** Page with a form, and its act. */
export interface FormPage<S extends z.ZodType> {
  path: string;
  access: Access;
  /** Schema of the path parameters, which is checked before any lookup. */
  params?: z.ZodObject;
  schema: S;
  /** Fields by the codes of the refusals shown next to them; other refusals are shown above the form. */
  fields?: Readonly<Record<string, string>>;
  /** Returns the page. A page with a status of its own, such as 410, keeps that status after a POST. */
  show(asked: AskedForm): PageView | Promise<PageView>;
  /** Does it. A `DomainError` shows the form again, with all that was typed but passwords and codes. */
  act(data: z.output<S>, request: FastifyRequest, reply: FastifyReply): Promise<Done>;
}

/** Serves a form at its path: GET shows the form, and POST acts and redirects with 303. */
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

/** Names of fields that are never filled in again: passwords, secrets and codes. */
const SECRET = /password|^secret|^code$|^recovery_code$|^csrf$/;

function withoutSecrets(body: Record<string, string | string[]>): FormState['values'] {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !SECRET.test(name)));
}

/** Returns the first error of each field, in order. */
function errorsOf({ issues }: z.ZodError): Record<string, string> {
  const errors = new Map<string, string>();
  for (const issue of issues) {
    const name = String(issue.path[0] ?? '');
    if (!errors.has(name)) errors.set(name, sentence(ownOrPlainWords(issue)));
  }
  return Object.fromEntries(errors);
}

/** Returns a message as a sentence. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
