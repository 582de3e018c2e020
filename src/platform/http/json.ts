import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../core/errors.ts';
import { parseExactJson } from '../../core/json/exact.ts';
import { HttpProblem } from './problem.ts';

/**
 * Reads request bodies as JSON of which every reader sees the same: what could not be hashed unambiguously is refused
 * with 422 `ambiguous_json`, what is not JSON with 400 `invalid_json`. An empty body is no body.
 */
export function readExactJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined);
    try {
      const { value, ambiguity, inexact } = parseExactJson(body);
      const why = ambiguity ?? (inexact === null ? null : `a double cannot hold the number ${inexact}`);
      if (why === null) return done(null, value);
      done(new HttpProblem(422, 'ambiguous_json', `the request body cannot be hashed unambiguously: ${why}`));
    } catch (error) {
      done(new HttpProblem(400, 'invalid_json', messageOf(error)));
    }
  });
}
