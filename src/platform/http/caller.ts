import type { FastifyReply } from 'fastify';
import { HttpProblem } from './problem.ts';

/** Status that proxies log for a caller that hung up; it is never received. */
const NOBODY_WAITS = 499;

/**
 * Returns a signal that aborts if the caller hangs up before the answer. (Fastify's own `request.signal` aborts when
 * the request body was read.)
 */
export function hangUpOf({ raw }: FastifyReply): AbortSignal {
  const hungUp = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) hungUp.abort(new HttpProblem(NOBODY_WAITS, 'caller_gone', 'the caller hung up'));
  });
  return hungUp.signal;
}
