import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerProblem, HttpProblem } from './problem.ts';

/** Answers paths that are not there with 404, and methods that a path has not got with 405 and `Allow`. */
export function answerUnrouted(server: FastifyInstance): void {
  const methods = new Map<string, Set<string>>();
  server.addHook('onRoute', ({ url, method }) => {
    const allowed = methods.get(url) ?? new Set();
    for (const each of [method].flat()) allowed.add(each);
    methods.set(url, allowed);
  });
  server.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?', 1);
    const found = [...methods].filter(([url]) => leadsTo(url, path)).flatMap(([, allowed]) => [...allowed]);
    const allowed = [...new Set(found)].sort();
    answerProblem(allowed.length > 0 ? refuseMethod(request, reply, allowed) : notFound(request, path), request, reply);
  });
}

/** True if the url of a route matches a path, with and without a slash at its end. */
function leadsTo(url: string, path: string): boolean {
  const [wanted = [], given = []] = [url, path].map((each) => each.replace(/\/$/, '').split('/'));
  return wanted.length === given.length && wanted.every((part, at) => part.startsWith(':') || part === given[at]);
}

function refuseMethod({ method }: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): HttpProblem {
  reply.header('allow', allowed.join(', '));
  return new HttpProblem(405, 'method_not_allowed', `${method} is not possible here, but ${allowed.join(', ')}`);
}

function notFound({ method }: FastifyRequest, path: string): HttpProblem {
  return new HttpProblem(404, 'not_found', `there is no ${method} ${path}`);
}
