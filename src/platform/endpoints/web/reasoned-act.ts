import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ActView, type AskedFirst, serveActAsking } from '../../web/acts.ts';
import { asCurl } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { field } from '../../web/fields.ts';
import type { Access } from '../../web/forms.ts';
import { reason } from '../requests/parts.ts';

/** What a page says at which one says why before something is done. */
export interface ReasonedActView extends Omit<ActView, 'below'> {
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

const REASON: AskedFirst<typeof schema> = {
  schema,
  fields(form) {
    const hint = 'It is recorded in the audit stream, with who said so.';
    return field(form, { name: 'reason', label: 'Reason', hint, autocomplete: 'off', isFirst: true });
  },
};

/** Serves a page at which one says why before something is done; the reason is recorded with it. */
export function serveReasonedAct(server: FastifyInstance, { view, ...page }: ReasonedAct): void {
  serveActAsking(server, REASON, {
    ...page,
    async view(request) {
      const { api, ...said } = await view(request);
      const call = { method: 'POST', path: api, body: { reason: 'why' } } as const;
      return { ...said, below: asCurl('curl', curlCommand(request, call)) };
    },
  });
}
