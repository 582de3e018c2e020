import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import { type Markup, type MarkupContent, markup } from '../../core/html/markup.ts';
import type { ApiCall } from './curl.ts';
import { postForm } from './fields.ts';
import { type Access, type FormState, serveForm } from './forms.ts';
import type { PageView } from './layout.ts';
import { leaveNotice } from './session-cookie.ts';

/** The texts of a page with one button. */
export interface ActView {
  title: string;
  above: NonNullable<PageView['above']>;
  introduction: MarkupContent;
  submit: string;
  isFinal: boolean;
  /** The path of the way out. */
  back: string;
  /** The call that does the same; of one's own account there is none. */
  api?: ApiCall;
}

/** Questions of a page with one button. */
export interface AskedFirst {
  schema: z.ZodObject;
  fields(form: FormState): Markup | null;
}

/** A page with one button, and what it does. */
interface ActPage {
  path: string;
  access: Access;
  params?: z.ZodObject;
  /** Nothing is asked by default. */
  asked?: AskedFirst;
  view(request: FastifyRequest): ActView | Promise<ActView>;
  /** @param given answers to the questions. @returns what was done, and where to go on. */
  act(request: FastifyRequest, given: object, reply: FastifyReply): Promise<{ notice: string; next: string }>;
}

const NOTHING: AskedFirst = { schema: z.object({}), fields: () => null };

/** Serves a page with one button at its path. */
export function serveAct(server: FastifyInstance, page: ActPage): void {
  const { path, access, params, asked = NOTHING, view, act } = page;
  serveForm(server, {
    path,
    access,
    schema: asked.schema,
    ...whereDefined({ params }),
    async show(form, request, reply) {
      const { title, above, introduction, submit, isFinal, back, api } = await view(request);
      const instead = markup`<a href="${back}">Leave it as it is</a>`;
      const button = postForm({ request, reply, form }, { fields: asked.fields(form), submit, isFinal, instead });
      return { title, isNarrow: true, above, introduction, content: button, ...whereDefined({ api }) };
    },
    async act(given, request, reply) {
      const { notice, next } = await act(request, given, reply);
      leaveNotice(reply, notice);
      return next;
    },
  });
}
