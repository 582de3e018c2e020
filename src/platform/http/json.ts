import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../core/errors.ts';
import { countMembers, parseExactJson } from '../../core/json/exact.ts';
import { HttpProblem } from './problem.ts';

/** Maximum number of members of all objects in a body, because parsing blocks all other requests. */
const MAX_MEMBERS = 250_000;

/** Size of a body. */
export interface BodyShape {
  bytes: number;
  /** Members of all objects. */
  members: number;
  /** Depth of nested objects and arrays. */
  depth: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    bodyShape: BodyShape;
  }
}

/**
 * Parses request bodies as JSON that every parser reads alike: refuses JSON that cannot be hashed unambiguously with
 * 422 `ambiguous_json`, and other text with 400 `invalid_json`. An empty body counts as none.
 */
export function readExactJson(server: FastifyInstance): void {
  server.decorateRequest('bodyShape');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    request.bodyShape = { bytes: body.length, members: 0, depth: 0 };
    if (body.length === 0) return done(null, undefined);
    try {
      const members = countMembers(body);
      if (members > MAX_MEMBERS)
        return done(new HttpProblem(413, 'too_large', `the request body has more than ${MAX_MEMBERS} members`));
      const { value, ambiguity, inexact, depth } = parseExactJson(body, { members });
      request.bodyShape = { bytes: body.length, members, depth };
      const why = ambiguity ?? (inexact === null ? null : `a double cannot hold the number ${inexact.slice(0, 40)}`);
      if (why === null) return done(null, value);
      done(new HttpProblem(422, 'ambiguous_json', `the request body cannot be hashed unambiguously: ${why}`));
    } catch (error) {
      done(new HttpProblem(400, 'invalid_json', messageOf(error)));
    }
  });
}
