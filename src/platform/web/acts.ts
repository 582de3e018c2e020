import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type MarkupContent, markup } from '../../core/html/markup.ts';
import { postForm } from './fields.ts';
import { type Access, serveForm } from './forms.ts';
import type { PageView } from './layout.ts';
import { leaveNotice } from './session-cookie.ts';

/** What a page with one button says. */
export interface ActView {
  title: string;
  above: NonNullable<PageView['above']>;
  introduction: MarkupContent;
  submit: string;
  isFinal: boolean;
  /** Where to go instead. */
  back: string;
  /** Below the button. */
  below?: MarkupContent;
}

/** A page with one button, and what it does. */
export interface ActPage {
  path: string;
  access: Access;
  params?: z.ZodObject;
  view(request: FastifyRequest): ActView | Promise<ActView>;
  /** @returns what was done, and where to go on. */
  act(request: FastifyRequest): Promise<{ notice: string; next: string }>;
}

/** Serves a page with one button at its path. */
export function serveAct(server: FastifyInstance, { path, access, params, view, act }: ActPage): void {
  serveForm(server, {
    ...{ path, access, schema: z.object({}), ...(params === undefined ? {} : { params }) },
    async show(form, request, reply) {
      const { title, above, introduction, submit, isFinal, back, below = null } = await view(request);
      const instead = markup`<a href="${back}">Leave it as it is</a>`;
      const button = postForm({ request, reply, form }, { fields: null, submit, isFinal, instead });
      return { title, isNarrow: true, above, introduction, content: [button, below] };
    },
    async act(_given, request, reply) {
      const { notice, next } = await act(request);
      leaveNotice(reply, notice);
      return next;
    },
  });
}
