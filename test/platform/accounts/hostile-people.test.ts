import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import { type Parts, withParts } from '../../../src/platform/parts.ts';
import { addDeadLetter } from '../rows-by-hand.ts';
import { entry, fill, type Service, startService } from '../service.ts';

const PASSWORD = 'a long walk by the sea';
const [ADA, BEN, CYD] = ['ada@example.com', 'ben@example.com', 'cyd@example.com'];
const OWNER = byCommand('test');

let service: Service;
beforeAll(async () => {
  service = await startService({ signUp: 'open' });
  for (const [email, role] of [
    [ADA, 'owner'],
    [BEN, 'auditor'],
    [CYD, 'auditor'],
  ] as const)
    await inside(async (parts) => {
      const { session } = await parts.accounts.joining.accept(await makeLink(parts, { email, role }), {
        name: 'Somebody',
        password: PASSWORD,
      });
      return session;
    });
  await inside(async ({ accounts: { people } }) => people.disable(OWNER, (await people.byEmail(CYD)).person_id));
});
afterAll(() => service.close());

const inside = <T>(work: (parts: Parts) => Promise<T>) => withParts({ dataDir: service.dataDir }, work);

function makeLink({ accounts: { links }, database, clock }: Parts, content: object): Promise<string> {
  return database
    .write((transaction) => links.make(transaction, 'invite', { ...content }, clock()))
    .then((id) => links.token(id));
}

/** A minimal browser, with forms and cookies. */
class Visitor {
  readonly #cookies = new Map<string, string>();
  /** Token of the last form loaded. */
  #csrf = '';
  readonly #headers: Record<string, string>;

  constructor(headers: Record<string, string> = {}) {
    this.#headers = headers;
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get(path: string) {
    return this.#send('GET', path, undefined);
  }

  /** Loads a page and submits its form. */
  async submit(path: string, fields: Record<string, string>) {
    await this.get(path);
    return this.post(path, fields);
  }

  /** Submits a form with the last token. */
  post(path: string, fields: Record<string, string>) {
    return this.#send('POST', path, new URLSearchParams({ csrf: this.#csrf, ...fields }).toString());
  }

  async #send(method: 'GET' | 'POST', path: string, body: string | undefined) {
    const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await request(service.origin + path, {
      method,
      body: body ?? null,
      headers: { cookie: this.cookie, ...type, ...this.#headers },
    });
    for (const cookie of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
    const text = await answer.body.text();
    this.#csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? this.#csrf;
    return { status: answer.statusCode, headers: answer.headers, text };
  }
}

/** Removes the parts that vary between answers. */
function alike({ status, headers, text }: Awaited<ReturnType<Visitor['get']>>, email: string) {
  const {
    'set-cookie': _,
    'x-request-id': __,
    date: ___,
    ratelimit: ____,
    'content-length': _____,
    ...others
  } = headers;
  const without = text.replace(/name="(csrf|ticket)" value="[^"]*"/g, '').replaceAll(email, 'EMAIL');
  return { status, others, without: without.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID') };
}

describe('nobody finds out who has an account by', () => {
  const nobody = 'nob@example.com';
  test.each([
    ['signing in', '/app/sign-in', { password: 'not the password' }],
    ['asking for a new password', '/app/forgot', {}],
    ['signing up', '/app/sign-up', {}],
  ])('%s', async (_what, path, fields) => {
    const answers = [];
    for (const email of [ADA, CYD, nobody])
      answers.push(alike(await new Visitor().submit(path, { email, ...fields }), email));
    const [first] = answers;
    expect(first?.status).not.toBe(403);
    expect(answers).toEqual([first, first, first]);
  });
});

test('links in mails lead to where the platform is, whatever host a request names', async () => {
  const toBen = async () => (await mails()).filter((mail) => mail.includes(`To: ${BEN}`));
  const before = await toBen();
  const visitor = new Visitor({
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
  });
  const { status } = await visitor.submit('/app/forgot', { email: BEN });
  expect(status).toBeLessThan(400);
  // Letters of other tests may still be under way.
  await expect.poll(async () => (await toBen()).length).toBeGreaterThan(before.length);
  const sent = (await toBen()).filter((mail) => !before.includes(mail)).join('\n');
  expect(sent).toContain(`${service.origin}/app/reset/`);
  expect(sent).not.toContain('evil.example');
});

async function mails(): Promise<string[]> {
  const folder = join(service.dataDir, 'mail');
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml')).sort();
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}

describe('a link that makes an account', () => {
  test('makes one for two who send its form at once, and is of no use to who comes later', async () => {
    const token = await inside((parts) => makeLink(parts, { email: 'dot@example.com', role: 'auditor' }));
    const path = `/app/invited/${token}`;
    const form = { name: 'Dot', password: PASSWORD };
    const visitors = [new Visitor(), new Visitor(), new Visitor()];
    for (const visitor of visitors) expect((await visitor.get(path)).status).toBe(200);
    const both = await Promise.all(visitors.slice(0, 2).map((visitor) => visitor.post(path, form)));
    expect(both.map(({ status }) => status).sort()).toEqual([303, 410]);
    expect((await visitors[2]?.post(path, form))?.status).toBe(410);
    expect((await new Visitor().get(path)).status).toBe(410);
  });

  test.each(['set-up', 'confirm', 'reset'])('is of no use at /app/%s', async (page) => {
    const token = await inside((parts) => makeLink(parts, { email: 'eve@example.com', role: 'owner' }));
    const path = `/app/${page}/${token}`;
    expect((await new Visitor().get(path)).status).toBe(410);
    const visitor = new Visitor();
    await visitor.get('/app/sign-in');
    const sent = await visitor.post(path, {
      name: 'Eve',
      email: 'eve@example.com',
      password: PASSWORD,
      next: PASSWORD,
    });
    expect(sent.status).toBe(410);
  });
});

describe('a session', () => {
  async function signedIn(email: string): Promise<Visitor> {
    const visitor = new Visitor();
    expect((await visitor.submit('/app/sign-in', { email, password: PASSWORD })).status).toBe(303);
    return visitor;
  }

  test('is none for the API, also not as a key', async () => {
    const visitor = await signedIn(ADA);
    expect((await visitor.get('/app/')).status).toBe(200);
    expect((await visitor.get('/keys/')).status).toBe(401);
    const token = /evidence_session=([^;]+)/.exec(visitor.cookie)?.[1] ?? '';
    const answer = await service.call('GET', '//keys/', undefined, { authorization: `Bearer ${token}` });
    expect(answer.status).toBe(401);
  });

  test('of who is disabled meanwhile opens no page', async () => {
    const visitor = await signedIn(BEN);
    expect((await visitor.get('/app/')).status).toBe(200);
    await inside(async ({ accounts: { people } }) => people.disable(OWNER, (await people.byEmail(BEN)).person_id));
    const { status, headers } = await visitor.get('/app/');
    expect([status, headers['location']]).toEqual([303, expect.stringMatching(/^\/app\/sign-in/)]);
    await inside(async ({ accounts: { people } }) => people.enable(OWNER, (await people.byEmail(BEN)).person_id));
    expect((await visitor.get('/app/')).status).toBe(303);
  });
});

describe('the stream of administrative acts', () => {
  test.each([
    ['an entry', '/entries/', () => entry('platform/administration', 1)],
    ['a batch', '/entries/batch', () => ({ entries: [entry('s', 1), entry('platform/administration', 1)] })],
    ['an entry of another stream of the platform', '/entries/', () => entry('platform/x', 1)],
  ])('takes no %s from outside, whatever the key may', async (_what, path, body) => {
    const { status, body: problem } = await service.call('POST', path, body());
    expect([status, problem.code]).toEqual([422, 'invalid_request']);
    expect(problem.detail).toContain('is reserved for the platform');
  });

  test('is verified like any other', async () => {
    const path = `/streams/${encodeURIComponent('platform/administration')}/verify`;
    expect((await service.call('POST', path)).body).toMatchObject({ verified: true, failures: [] });
  });
});

describe('nobody has the platform ask inside', () => {
  /** Starts an internal server that records its requests. */
  async function insider() {
    const asked: string[] = [];
    const server = createServer(({ url }, response) => {
      asked.push(url ?? '');
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { asked, url: `http://127.0.0.1:${port}/secret`, close: () => server.close() };
  }

  test('by an authority that leads there', async () => {
    const inner = await insider();
    const outer = createServer((_request, response) => response.writeHead(302, { location: inner.url }).end());
    outer.listen(0, '127.0.0.1');
    await once(outer, 'listening');
    const { port } = outer.address() as AddressInfo;
    const stamping = await startService({ tsaUrl: `http://127.0.0.1:${port}/tsr` });
    try {
      await fill(stamping, 's', 1);
      const { status, body } = await stamping.call('POST', '/streams/s/checkpoints');
      expect([status, body.anchor.status]).toEqual([201, 'pending']);
      expect(inner.asked).toEqual([]);
    } finally {
      await stamping.close();
      outer.close();
      inner.close();
    }
  });

  test('by any address in what is sent', async () => {
    const inner = await insider();
    const { url } = inner;
    const { key_id } = (await service.call('POST', '//keys/', { name: url, scopes: ['audit:read'] })).body;
    const sent = [
      await service.call(
        'POST',
        '/entries/',
        entry(url, 1, { actor: url, resource_id: url, metadata: { url, tsa_url: url } }),
      ),
      await service.call('POST', `/streams/${encodeURIComponent(url)}/checkpoints`, { tsa_url: url }),
      await service.call('POST', '/evidence/generate', { stream_id: url, title: url }),
      await service.call('POST', '//people/invitations', { email: `x@[127.0.0.1]`, role: 'auditor' }),
      await service.call('POST', '//people/invitations', { email: `x@127.0.0.1`, role: 'auditor', url }),
      await service.call('POST', `//keys/${key_id}/rotate`, {}, { 'idempotency-key': url }),
      await service.call('POST', `//administration/dead-letters/${await addDeadLetter(service)}/replay`, { url }),
    ];
    expect(sent.map(({ status }) => status).every((status) => status < 500)).toBe(true);
    expect(inner.asked).toEqual([]);
    inner.close();
  });
});
