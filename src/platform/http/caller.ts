import type { FastifyReply } from 'fastify';
import { HttpProblem } from './problem.ts';

/** As proxies log it; nobody receives it. */
const NOBODY_WAITS = 499;

/**
 * Says when the caller of a request has hung up before the answer. (Fastify's own `request.signal` does when the body of
 * a request was read.)
 */
export function hangUpOf({ raw }: FastifyReply): AbortSignal {
  const hungUp = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) hungUp.abort(new HttpProblem(NOBODY_WAITS, 'caller_gone', 'the caller hung up'));
  });
  return hungUp.signal;
}
