import type { FastifyReply } from 'fastify';

/**
 * Sets the ETag, and reports whether the caller already has this version (RFC 9110 section 13.1.2: a weak comparison).
 * @param mark without its quotation marks.
 */
export function isKnown(reply: FastifyReply, mark: string): boolean {
  const etag = `"${mark}"`;
  reply.header('etag', etag);
  const named = reply.request.headers['if-none-match'];
  if (named === undefined) return false;
  const marks = named.split(',').map((each) => each.trim().replace(/^W\//, ''));
  return marks.includes(etag) || marks.includes('*');
}

/** Answers with 304 Not Modified. */
export function sendKnown(reply: FastifyReply): FastifyReply {
  return reply.code(304).removeHeader('content-type').send();
}
