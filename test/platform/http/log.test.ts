import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createServer } from '../../../src/platform/http/server.ts';

const SECRET = 'sk_secret-of-somebody';

test('the log has a line of JSON for each answer, and nothing in which a secret may stand', async () => {
  const logTo = new PassThrough();
  const logged = text(logTo);
  const server = createServer({
    logLevel: 'trace',
    logTo,
    rateLimits: { requestsPerMinute: 100, refusalsPerMinute: 100 },
    clock: () => new Date(0),
    authenticate: async () => ({ kind: 'key', id: 'key-7', name: SECRET, scopes: ['audit:read'] }),
  });
  const config = { public: true };
  server.post('/app/set-up/:token', { config }, () => ({ token: SECRET }));
  server.get('/who', { config: { scope: 'audit:read' } }, () => ({}));
  server.get('/fails', { config }, () => {
    throw Object.assign(new Error('a value is there twice'), { detail: SECRET, parameters: [SECRET], code: '23505' });
  });
  const headers = { authorization: `Bearer ${SECRET}`, cookie: `session=${SECRET}`, 'x-other': SECRET };
  const asked = [
    { method: 'POST', url: `/app/set-up/${SECRET}?more=${SECRET}`, headers, payload: { password: SECRET } },
    { method: 'GET', url: '/who', headers },
    { method: 'GET', url: `/fails?token=${SECRET}`, headers },
    { method: 'GET', url: `/nowhere/${SECRET}`, headers },
    {
      method: 'POST',
      url: '/who',
      headers: { ...headers, 'content-type': 'application/json' },
      payload: `{"${SECRET}`,
    },
  ] as const;
  const ids: unknown[] = [];
  for (const request of asked) ids.push((await server.inject({ ...request })).headers['x-request-id']);
  await server.close();
  logTo.end();
  const said = await logged;
  expect(said).not.toContain(SECRET);
  const lines = said
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const answers = lines.filter(({ msg }) => msg === 'answered');
  expect(answers.map(({ reqId }) => reqId)).toEqual(ids);
  expect(answers.map(({ method, route, status, by }) => [method, route, status, by])).toEqual([
    ['POST', '/app/set-up/:token', 200, undefined],
    ['GET', '/who', 200, 'key key-7'],
    ['GET', '/fails', 500, undefined],
    ['GET', 'none', 404, 'key key-7'],
    ['POST', 'none', 400, 'key key-7'],
  ]);
  const [failure] = lines.filter(({ msg }) => msg === 'request failed');
  expect(failure).toMatchObject({
    reqId: ids[2],
    err: { type: 'Error', message: 'a value is there twice', code: '23505' },
  });
});
