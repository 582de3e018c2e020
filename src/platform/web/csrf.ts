import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpProblem } from '../http/problem.ts';
import { isReading } from './access.ts';
import { isVisitorToken, visitorToken } from './session-cookie.ts';

/** The field of a form that shows that one of our own pages made it. */
export const CSRF_FIELD = 'csrf';

/** The value of that field for the browser that asks for this page. */
export function csrfToken(request: FastifyRequest, reply: FastifyReply): string {
  return request.person?.csrf ?? visitorToken(request, reply);
}

/**
 * Refuses what another site had a browser send: a form without the token of its session, or with an `Origin` that is
 * not ours.
 * @param publicUrl where people reach the platform, if it was said.
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
      'this form is not of your present session; nothing was done. Go back, load the page anew and send it again',
    );
  });
}

/** A browser says where a form comes from. `null` is what it says when it hides it. */
function refuseForeignOrigin({ headers: { origin }, host }: FastifyRequest, publicUrl: string | null): void {
  if (origin === undefined) return;
  const given = URL.parse(origin);
  if (given !== null && (given.host === host || given.origin === publicUrl)) return;
  throw new HttpProblem(403, 'foreign_form', 'this form comes from another site; nothing was done');
}

function isOwn(request: FastifyRequest, given: string): boolean {
  if (request.person === null) return isVisitorToken(request, given);
  const [sent, own] = [given, request.person.csrf].map((token) => Buffer.from(token));
  return sent !== undefined && own !== undefined && sent.length === own.length && timingSafeEqual(sent, own);
}
