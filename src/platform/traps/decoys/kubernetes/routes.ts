import type { RawAnswer } from '../raw-http.ts';
import { ANONYMOUS, forbidden, jsonAnswer, type KubeShown, type KubeUser, VERSION } from './answers.ts';
import { discover } from './discovery.ts';
import { isSelfReview, type KubeRequest } from './request.ts';
import { review } from './reviews.ts';

export interface KubeAsked {
  user: KubeUser;
  shown: KubeShown;
  body: string;
  accept: string;
  /** As the client names it. */
  host: string;
}

/** Paths that a new cluster shows to everybody. */
const HEALTH = ['/healthz', '/livez', '/readyz'];

export function answerKube(request: KubeRequest, { user, shown, body, accept, host }: KubeAsked): RawAnswer {
  const { path, verb, resource } = request;
  if (verb === 'get' && (path === '/version' || path === '/version/')) return jsonAnswer(200, VERSION, pretty(shown));
  if (verb === 'get' && HEALTH.includes(path)) return health(shown);
  if (user === ANONYMOUS) return forbidden(request, user, shown);
  const found = resource === null && verb === 'get' ? discover(path, accept, host) : null;
  if (found !== null)
    return jsonAnswer(200, found.body, shown, [
      ['Content-Type', found.contentType],
      ['Vary', 'Accept'],
    ]);
  if (resource !== null && isSelfReview(request)) return jsonAnswer(201, review(resource.name, body, user), shown);
  return forbidden(request, user, shown);
}

/** It is written on many lines to everybody. */
const pretty = (shown: KubeShown): KubeShown => ({ ...shown, isPretty: true });

function health(shown: KubeShown): RawAnswer {
  const { headers, ...answer } = jsonAnswer(200, null, shown, [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['X-Content-Type-Options', 'nosniff'],
  ]);
  const sized = headers.map(([name, value]) => [name, name === 'Content-Length' ? '2' : value] as const);
  return { ...answer, headers: sized, body: 'ok' };
}
