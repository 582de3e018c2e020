import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type MarkupContent, markup } from '../../../core/html/markup.ts';
import { asCurl } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { field, postForm } from '../../web/fields.ts';
import { type Access, serveForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import { reason } from '../requests/parts.ts';

/** What a page says at which one says why before something is done. */
export interface ReasonedActView {
  title: string;
  above: NonNullable<PageView['above']>;
  introduction: MarkupContent;
  submit: string;
  isFinal: boolean;
  /** Where to go instead. */
  back: string;
  /** Of the call that does the same. */
  api: string;
}

export interface ReasonedAct {
  path: string;
  access: Access;
  params: z.ZodObject;
  view(request: FastifyRequest): Promise<ReasonedActView>;
  /** @returns what was done, and where to go on. */
  act(request: FastifyRequest, given: { reason: string }): Promise<{ notice: string; next: string }>;
}

const schema = z.object({ reason: z.string().trim().min(1, 'Say why: it is recorded').pipe(reason) });

/** Serves a page at which one says why before something is done; the reason is recorded with it. */
export function serveReasonedAct(server: FastifyInstance, { path, access, params, view, act }: ReasonedAct): void {
  serveForm(server, {
    ...{ path, access, params, schema },
    async show(form, request: FastifyRequest, reply: FastifyReply) {
      const { title, above, introduction, submit, isFinal, back, api } = await view(request);
      const hint = 'It is recorded in the audit stream, with who said so.';
      const fields = field(form, { name: 'reason', label: 'Reason', hint, autocomplete: 'off', isFirst: true });
      const instead = markup`<a href="${back}">Leave it as it is</a>`;
      const call = { method: 'POST', path: api, body: { reason: 'why' } } as const;
      return {
        ...{ title, above, introduction, isNarrow: true },
        content: [
          postForm({ request, reply, form }, { fields, submit, isFinal, instead }),
          asCurl('curl', curlCommand(request, call)),
        ],
      };
    },
    async act(given, request, reply) {
      const { notice, next } = await act(request, given);
      leaveNotice(reply, notice);
      return next;
    },
  });
}
