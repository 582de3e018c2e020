import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Markup } from '../../core/html/markup.ts';
import { reason } from '../http/fields.ts';
import { type ActView, type AskedFirst, serveActAsking } from './acts.ts';
import { type Field, field } from './fields.ts';
import type { Access, FormState } from './forms.ts';

/** The texts of a page that asks for a reason before an act. */
export interface ReasonedActView extends Omit<ActView, 'api'> {
  /** The path of the same call of the API. */
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

/** The reason of an act, as a form asks for it. */
export const askedReason = z.string().trim().min(1, 'Say why: it is recorded').pipe(reason);

export function reasonField(form: FormState, more: Pick<Field, 'isFirst'> = {}): Markup {
  const hint = 'It is recorded in the audit stream, with who said so.';
  return field(form, { name: 'reason', label: 'Reason', hint, autocomplete: 'off', ...more });
}

const schema = z.object({ reason: askedReason });

const REASON: AskedFirst<typeof schema> = { schema, fields: (form) => reasonField(form, { isFirst: true }) };

/** Serves a page at which one says why before something is done; the reason is recorded with it. */
export function serveReasonedAct(server: FastifyInstance, { view, ...page }: ReasonedAct): void {
  serveActAsking(server, REASON, {
    ...page,
    async view(request) {
      const { api, ...said } = await view(request);
      return { ...said, api: { method: 'POST', path: api, body: { reason: 'why' } } };
    },
  });
}
