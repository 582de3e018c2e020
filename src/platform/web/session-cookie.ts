import { randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PAGES } from './own-path.ts';

const SESSION = 'evidence_session';
/** The cookie of a browser in which nobody is signed in: its forms are bound to it. */
const VISITOR = 'evidence_visitor';
/** One line for the next page, signed. */
const NOTICE = 'evidence_notice';

/**
 * The attributes of all cookies. They go to pages alone, never to the API, and no script reads them. Without `Max-Age`
 * they end with the browser.
 * @param publicUrl where people reach the platform, if it was said: https there makes them Secure whatever stands between.
 */
export function cookieFlags(publicUrl: string | null): CookieSerializeOptions {
  return { path: PAGES, httpOnly: true, sameSite: 'lax', secure: publicUrl?.startsWith('https:') || 'auto' };
}

export function sessionTokenOf({ cookies }: FastifyRequest): string | null {
  return cookies[SESSION] || null;
}

export function giveSession(reply: FastifyReply, token: string): void {
  reply.setCookie(SESSION, token);
  reply.clearCookie(VISITOR);
}

export function clearSession(reply: FastifyReply): void {
  reply.clearCookie(SESSION);
}

/** The token in forms of a browser in which nobody is signed in: its cookie's value, signed by us. */
export function visitorToken(request: FastifyRequest, reply: FastifyReply): string {
  let visitor = request.cookies[VISITOR];
  if (!visitor) {
    visitor = randomBytes(32).toString('base64url');
    request.cookies[VISITOR] = visitor;
    reply.setCookie(VISITOR, visitor);
  }
  return reply.signCookie(`form ${visitor}`);
}

export function isVisitorToken(request: FastifyRequest, token: string): boolean {
  const visitor = request.cookies[VISITOR];
  const { valid, value } = request.unsignCookie(token);
  return valid && Boolean(visitor) && value === `form ${visitor}`;
}

/** Says something on the page that comes next. */
export function leaveNotice(reply: FastifyReply, notice: string): void {
  reply.setCookie(NOTICE, notice, { signed: true });
}

/** Takes the message that the page before has left, once. */
export function takeNotice(request: FastifyRequest, reply: FastifyReply): string | null {
  const left = request.cookies[NOTICE];
  if (!left) return null;
  reply.clearCookie(NOTICE);
  const { valid, value } = request.unsignCookie(left);
  return valid ? value : null;
}
