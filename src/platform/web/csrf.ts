import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpProblem } from '../http/problem.ts';
import { isReading } from './access.ts';
import { isVisitorToken, visitorToken } from './session-cookie.ts';

/** Name of the form field that proves that one of our own pages made the form. */
export const CSRF_FIELD = 'csrf';

/** Returns the value of the field for the browser that requests this page. */
export function csrfToken(request: FastifyRequest, reply: FastifyReply): string {
  return request.person?.csrf ?? visitorToken(request, reply);
}

/**
 * Refuses forms that another site made the browser submit: those without the token of their session, or with a foreign
 * `Origin`.
 * @param publicUrl public address of the platform, if configured.
 */
export function refuseForeignForms(server: FastifyInstance, publicUrl: string | null): void {
  server.addHook('preValidation', async (request) => {
    if (isReading(request)) return;
    refuseForeignOrigin(request, publicUrl);
    const given = (request.body as Record<string, unknown> | undefined)?.[CSRF_FIELD];
    if (typeof given === 'string' && isOwn(request, given)) return;
    throw new HttpProblem(
      403,
      'foreign_form',
      'this form does not belong to your current session; nothing was changed. Go back, reload the page and submit the form again',
    );
  });
}

/** Refuses a foreign `Origin`, including `null`, with which a browser hides the origin. */
function refuseForeignOrigin({ headers: { origin }, host }: FastifyRequest, publicUrl: string | null): void {
  if (origin === undefined) return;
  const given = URL.parse(origin);
  if (given !== null && (given.host === host || given.origin === publicUrl)) return;
  throw new HttpProblem(403, 'foreign_form', 'this form was sent from another site; nothing was changed');
}

function isOwn(request: FastifyRequest, given: string): boolean {
  if (request.person === null) return isVisitorToken(request, given);
  const [sent, own] = [given, request.person.csrf].map((token) => Buffer.from(token));
  return sent !== undefined && own !== undefined && sent.length === own.length && timingSafeEqual(sent, own);
}
