import { expect, test } from 'vitest';
import { DomainError } from '../../../src/platform/errors.ts';
import type { RateLimits } from '../../../src/platform/http/principal.ts';
import { createServer } from '../../../src/platform/http/server.ts';

const NOW = new Date('2026-11-22T12:00:15.500Z');

function serve(rateLimits: Partial<RateLimits> = {}) {
  return createServer({
    logLevel: 'silent',
    rateLimits: { requestsPerMinute: 5, refusalsPerMinute: 5, ...rateLimits },
    clock: () => NOW,
    authenticate: async (presented) => {
      if (presented !== 'good') throw new DomainError('unauthenticated', 'wrong');
      return { kind: 'key', id: 'k', name: 'reader', scopes: ['audit:read'] };
    },
  });
}

test.each([
  ['neither a scope nor a word that it is public', {}],
  ['both', { public: true, scope: 'audit:read' as const }],
])('a route that says %s cannot be registered', (_name, config) => {
  expect(() => serve().get('/x', { config }, () => 'x')).toThrow('GET /x must either be public or name its scope');
});

test('a route knows who asks, and answers only who may', async () => {
  const server = serve();
  server.get('/read', { config: { scope: 'audit:read' } }, ({ principal }) => ({ principal }));
  server.get('/write', { config: { scope: 'audit:write' } }, () => 'written');
  server.get('/open', { config: { public: true } }, ({ principal }) => ({ principal }));
  const get = async (url: string, authorization?: string) => {
    const answer = await server.inject({ url, headers: authorization === undefined ? {} : { authorization } });
    return [answer.statusCode, answer.json()];
  };
  expect(await get('/read', 'Bearer good')).toEqual([
    200,
    { principal: { kind: 'key', id: 'k', name: 'reader', scopes: ['audit:read'] } },
  ]);
  expect(await get('/write', 'Bearer good')).toEqual([
    403,
    expect.objectContaining({
      code: 'forbidden',
      detail: 'this requires the scope audit:write, which the API key "reader" does not have',
    }),
  ]);
  expect(await get('/open')).toEqual([200, { principal: null }]);
  for (const [url, authorization] of [
    ['/read', undefined],
    ['/read', 'Bearer bad'],
    ['/nowhere', undefined],
  ] as const)
    expect(await get(url, authorization)).toEqual([401, expect.objectContaining({ code: 'unauthenticated' })]);
  expect(await get('/nowhere', 'bearer  good')).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
});
