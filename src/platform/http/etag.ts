import type { FastifyReply } from 'fastify';

/**
 * Names what is answered, and whether the caller has it already (RFC 9110, section 13.1.2: a weak mark is as good).
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

/** Answers that nothing is new to whoever has it. */
export function sendKnown(reply: FastifyReply): FastifyReply {
  return reply.code(304).removeHeader('content-type').send();
}
