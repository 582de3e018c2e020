import type { FastifyPluginAsync } from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { markup } from '../../../src/core/html/markup.ts';
import { DomainError } from '../../../src/platform/errors.ts';
import { field, postForm } from '../../../src/platform/web/fields.ts';
import { serveForm } from '../../../src/platform/web/forms.ts';
import { ownPath } from '../../../src/platform/web/own-path.ts';
import { leaveNotice } from '../../../src/platform/web/session-cookie.ts';
import { ADA, BEN, frameOf, Visit } from './frame.ts';

const HOSTILE = '</title><script>alert(1)</script>"\'&\u202e';

let said: string[] = [];
beforeEach(() => {
  said = [];
});

/** A page for each kind of access, with a form that reports its result. */
const PAGES: FastifyPluginAsync = async (server) => {
  const accesses = { open: { public: true }, own: { signedIn: true }, keys: { scope: 'keys:write' } } as const;
  for (const [path, access] of Object.entries(accesses))
    serveForm(server, {
      path: `/${path}`,
      access,
      schema: z.object({ word: z.string().min(1), password: z.string().optional() }),
      fields: { conflict: 'word' },
      show: ({ form, request, reply }) => ({
        title: `Say ${path}`,
        content: postForm(
          { request, reply, form },
          {
            fields: [field(form, { name: 'word', label: 'Word' }), field(form, { name: 'password', label: 'P' })],
            submit: 'Say',
          },
        ),
      }),
      async act({ word }, _request, reply) {
        if (word === 'taken') throw new DomainError('conflict', 'this word is taken');
        if (word === 'later') throw new DomainError('too_many_attempts', 'wait', { retry_after: 7 });
        if (word === 'broken') throw new Error('the secret cause');
        said.push(word);
        leaveNotice(reply, `${word} was said.`);
        return '/app/own';
      },
    });
  server.get('/proved', { config: { signedIn: true, proved: true } }, (_request, reply) =>
    reply.page({ title: HOSTILE, content: markup`<p>${HOSTILE}</p>` }),
  );
};

describe('a form is taken', () => {
  test.each([
    ['of the session', 'ada', {}, {}, 303],
    ['that says where it comes from', 'ada', {}, { origin: 'http://platform.example' }, 303],
    ['of a visitor', undefined, {}, {}, 303],
    ['without a token', 'ada', { csrf: '' }, {}, 403],
    ['with a wrong token', 'ada', { csrf: 'csrf-of-ada2' }, {}, 403],
    ['with the token of another session', 'ada', { csrf: BEN.csrf }, {}, 403],
    ['with the token twice', 'ada', { csrf: [ADA.csrf, ADA.csrf] }, {}, 403],
    ['of a visitor without a token', undefined, { csrf: '' }, {}, 403],
    ['of a visitor with the token of a session', undefined, { csrf: ADA.csrf }, {}, 403],
    ['from another site', 'ada', {}, { origin: 'http://platform.example.evil.example' }, 403],
    ['from another port', 'ada', {}, { origin: 'http://platform.example:81' }, 403],
    ['from a place that is hidden', 'ada', {}, { origin: 'null' }, 403],
    ['as JSON', 'ada', {}, { 'content-type': 'application/json' }, 415],
  ] as const)('%s: by %s with %j and %j it is %i', async (_what, session, fields, headers, status) => {
    const visit = new Visit(await frameOf(PAGES), session);
    const answer = await visit.submit('/app/open', { word: 'hello', ...(fields as Record<string, string>) }, headers);
    expect(answer.statusCode).toBe(status);
    expect(said).toEqual(status === 303 ? ['hello'] : []);
    if (status !== 303) expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test('of the browser whose visitor made it, and of no other', async () => {
    const server = await frameOf(PAGES);
    const [one, other] = [new Visit(server), new Visit(server)];
    const csrf = /name="csrf" value="([^"]*)"/.exec((await one.get('/app/open')).body)?.[1] ?? '';
    await other.get('/app/open');
    expect((await other.post('/app/open', { csrf, word: 'x' })).statusCode).toBe(403);
    expect((await one.post('/app/open', { csrf, word: 'x' })).statusCode).toBe(303);
  });

  test('where the platform is reached by another name than it sees', async () => {
    const server = await frameOf(PAGES, { publicUrl: 'https://evidence.example' });
    const from = (origin: string) => new Visit(server, 'ada').submit('/app/own', { word: 'x' }, { origin });
    expect((await from('https://evidence.example')).statusCode).toBe(303);
    expect((await from('http://evidence.example')).statusCode).toBe(403);
  });
});

test('what is not right comes again with all that was typed but the password, and the word beside its field', async () => {
  const visit = new Visit(await frameOf(PAGES), 'ada');
  const taken = await visit.submit('/app/own', { word: 'taken', password: 'pass1234' });
  expect(taken.statusCode).toBe(409);
  expect(taken.body).toContain('value="taken"');
  expect(taken.body).toContain('autofocus aria-describedby="word-error" aria-invalid="true"');
  expect(taken.body).toContain('This word is taken.');
  expect(taken.body).not.toContain('pass1234');
  const empty = await visit.submit('/app/own', { word: '' });
  expect([empty.statusCode, empty.body.includes('Expected non-empty text.')]).toEqual([422, true]);
  const later = await visit.submit('/app/own', { word: 'later' });
  expect([later.statusCode, later.headers['retry-after']]).toEqual([429, '7']);
  expect(later.body).toContain('role="alert">Wait.');
  const broken = await visit.submit('/app/own', { word: 'broken' });
  expect([broken.statusCode, broken.body.includes('secret')]).toEqual([500, false]);
  expect(said).toEqual([]);
});

test('what was done is said once on the next page, and only by us', async () => {
  const visit = new Visit(await frameOf(PAGES), 'ada');
  await visit.submit('/app/own', { word: '<b>hello</b>' });
  expect((await visit.get('/app/own')).body).toContain('role="status">&lt;b&gt;hello&lt;/b&gt; was said.</p>');
  expect((await visit.get('/app/own')).body).not.toContain('was said');
  visit.cookies.set('evidence_notice', 'All is verified.');
  expect((await visit.get('/app/own')).body).not.toContain('All is verified');
});

test.each([
  ['nobody', undefined, '/app/keys', 303, '/app/sign-in?then=%2Fapp%2Fkeys'],
  ['nobody at the front page', undefined, '/app/', 303, '/app/sign-in'],
  ['nobody at the origin', undefined, '/', 303, '/app/'],
  ['a session that has ended', 'gone', '/app/own?x=1', 303, '/app/sign-in?then=%2Fapp%2Fown%3Fx%3D1'],
  ['somebody without the scope', 'ben', '/app/keys', 403, undefined],
  ['somebody with it', 'ada', '/app/keys', 200, undefined],
  ['somebody who has not proved again', 'ben', '/app/proved', 303, '/app/prove?then=%2Fapp%2Fproved'],
  ['somebody who has', 'ada', '/app/proved', 200, undefined],
  ['anybody where nothing is', undefined, '/app/nothing/here', 404, undefined],
])('%s is answered so', async (_who, session, path, status, location) => {
  const answer = await new Visit(await frameOf(PAGES), session).get(path);
  expect([answer.statusCode, answer.headers.location]).toEqual([status, location]);
});

test('a route of a page that does not say who may cannot be registered', async () => {
  const routes: FastifyPluginAsync = async (server) => {
    server.get('/x', () => 'x');
  };
  await expect(frameOf(routes)).rejects.toThrow('GET /app/x must either be public or name its scope');
});

test('a session is of no use to the API, nor a page to an API key', async () => {
  const server = await frameOf(PAGES);
  server.get('/audit/x', { config: { scope: 'audit:read' } }, () => 'x');
  expect((await new Visit(server, 'ada').get('/audit/x')).statusCode).toBe(401);
  const page = await server.inject({ url: '/app/own', headers: { authorization: 'Bearer sk_x' } });
  expect(page.statusCode).toBe(303);
});

test('the navigation has what the person may see, and says where one is', async () => {
  const server = await frameOf(PAGES);
  const navOf = async (session: string, path: string) => {
    const { body } = await new Visit(server, session).get(path);
    const items = body.slice(0, body.indexOf('<main')).matchAll(/<li><a href="([^"]+)"( aria-current="page")?>/g);
    return [...items].map(([, href, current]) => `${href}${current ?? ''}`);
  };
  expect(await navOf('ada', '/app/keys')).toEqual(['/app/', '/app/audit', '/app/keys aria-current="page"']);
  expect(await navOf('ben', '/app/')).toEqual(['/app/ aria-current="page"', '/app/audit']);
});

test('what comes from outside is text wherever it stands', async () => {
  const people = { x: { ...ADA, name: HOSTILE, role: HOSTILE, csrf: HOSTILE } };
  const { body } = await new Visit(await frameOf(PAGES, { people }), 'x').get('/app/proved');
  expect(body.match(/<script/g)).toHaveLength(1);
  expect(body.match(/<title>/g)).toHaveLength(1);
  expect(body.split('&lt;script&gt;').length).toBeGreaterThan(5);
  expect(body).not.toContain('\u202e');
});

test('every page says what a browser may do with it', async () => {
  const server = await frameOf(PAGES);
  for (const path of ['/app/own', '/app/nothing', '/app/keys']) {
    const { headers } = await new Visit(server, 'ben').get(path);
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
    });
  }
});

test('what a page loads is there, by its digest, and stays as it is', async () => {
  const server = await frameOf(PAGES);
  const { body } = await new Visit(server, 'ada').get('/app/own');
  const urls = [...body.matchAll(/"(\/app\/assets\/[^"]+)"/g)].map(([, url = '']) => url);
  expect(urls).toHaveLength(3);
  for (const url of urls) {
    const { statusCode, headers } = await server.inject(url);
    expect([statusCode, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect((await server.inject(url.replace(/\.[0-9a-f]{16}\./, '.0000000000000000.'))).statusCode).toBe(404);
  }
  expect(body).not.toMatch(/ style="| on\w+="|<style|<script>/);
});

test('who sends too much is told to wait', async () => {
  const server = await frameOf(PAGES, { rateLimits: { requestsPerMinute: 3, refusalsPerMinute: 2 } });
  const visitor = new Visit(server);
  const statuses = [];
  for (let count = 0; count < 3; count++) statuses.push((await visitor.submit('/app/open', { word: 'x' })).statusCode);
  expect(statuses).toEqual([303, 303, 429]);
  const ada = new Visit(server, 'ada');
  for (let count = 0; count < 3; count++) await ada.get('/app/own');
  const last = await ada.get('/app/own');
  expect([last.statusCode, Number(last.headers['retry-after']) > 0]).toEqual([429, true]);
});

test.each([
  ['/app/keys', '/app/keys'],
  ['/app/audit/streams/a%2Fb?x=1', '/app/audit/streams/a%2Fb?x=1'],
  ['/app', '/app'],
  [undefined, '/app/'],
  [['/app/keys'], '/app/'],
  ['https://evil.example/app/', '/app/'],
  ['//evil.example/app/', '/app/'],
  ['/\\evil.example/app', '/app/'],
  ['/app/../../evil', '/app/'],
  ['/app/..//evil.example', '/app/'],
  ['/app\\..\\..\\evil', '/app/'],
  ['/application', '/app/'],
  ['/app/\n//evil.example', '/app///evil.example'],
  ['javascript:alert(1)//app/', '/app/'],
])('%j leads to %s', (wanted, path) => {
  expect(ownPath(wanted)).toBe(path);
});
