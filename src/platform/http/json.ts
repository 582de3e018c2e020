import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../core/errors.ts';
import { countMembers, parseExactJson } from '../../core/json/exact.ts';
import { HttpProblem } from './problem.ts';

/** The most members of all objects in a body: reading them blocks everybody else. */
const MAX_MEMBERS = 250_000;

/** The size of a body for its readers. */
export interface BodyShape {
  bytes: number;
  /** Members of all its objects. */
  members: number;
  /** Levels of its objects and arrays. */
  depth: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    bodyShape: BodyShape;
  }
}

/**
 * Reads request bodies as JSON of which every reader sees the same: what could not be hashed unambiguously is refused
 * with 422 `ambiguous_json`, what is not JSON with 400 `invalid_json`. An empty body is no body.
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
