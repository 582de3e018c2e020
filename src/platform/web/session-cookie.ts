import { randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PAGES } from './own-path.ts';

const SESSION = 'evidence_session';
/** Cookie of a browser without a session, to which its forms are bound. */
const VISITOR = 'evidence_visitor';
/** Cookie of a browser in which a person signed in before. */
const DEVICE = 'evidence_device';
const DEVICE_SECONDS = 180 * 24 * 60 * 60;
/** Cookie with a signed notice for the next page. */
const NOTICE = 'evidence_notice';

/**
 * Returns the attributes of all cookies, which are sent to pages only, never to the API, and hidden from scripts.
 * Without `Max-Age`, they end with the browser session; only that of a device has one.
 * @param publicUrl public address of the platform, if configured; https makes cookies Secure, whatever proxies are in
 * between.
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

export function deviceOf({ cookies }: FastifyRequest): string | undefined {
  return cookies[DEVICE] || undefined;
}

/** Makes a browser known for longer than its session. */
export function giveDevice(reply: FastifyReply, device: string): void {
  reply.setCookie(DEVICE, device, { maxAge: DEVICE_SECONDS });
}

/** Returns the form token of a browser without a session: the value of its cookie, signed by the platform. */
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

/** Leaves a notice for the next page. */
export function leaveNotice(reply: FastifyReply, notice: string): void {
  reply.setCookie(NOTICE, notice, { signed: true });
}

/** Returns the notice left by the previous page, once. */
export function takeNotice(request: FastifyRequest, reply: FastifyReply): string | null {
  const left = request.cookies[NOTICE];
  if (!left) return null;
  reply.clearCookie(NOTICE);
  const { valid, value } = request.unsignCookie(left);
  return valid ? value : null;
}
