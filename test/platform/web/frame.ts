import type { FastifyInstance, FastifyPluginAsync, InjectOptions } from 'fastify';
import { DomainError } from '../../../src/platform/errors.ts';
import type { RateLimits } from '../../../src/platform/http/principal.ts';
import { createServer } from '../../../src/platform/http/server.ts';
import type { SignedIn } from '../../../src/platform/web/access.ts';
import { servePages } from '../../../src/platform/web/web.ts';

export const ADA: SignedIn = {
  kind: 'person',
  id: 'p-ada',
  name: 'Ada',
  email: 'ada@example.com',
  role: 'owner',
  scopes: ['audit:read', 'audit:write', 'keys:read', 'keys:write'],
  csrf: 'csrf-of-ada',
  isProved: true,
  secondFactors: [],
};
export const BEN: SignedIn = {
  ...ADA,
  id: 'p-ben',
  name: 'Ben',
  scopes: ['audit:read'],
  csrf: 'csrf-of-ben',
  isProved: false,
};

export interface FrameOptions {
  people?: Record<string, SignedIn>;
  publicUrl?: string | null;
  rateLimits?: RateLimits;
}

/** Serves the frame with these pages, for people whose sessions have these tokens. */
export async function frameOf(routes: FastifyPluginAsync, options: FrameOptions = {}): Promise<FastifyInstance> {
  const { people = { ada: ADA, ben: BEN }, publicUrl = null } = options;
  const { rateLimits = { requestsPerMinute: 1000, refusalsPerMinute: 100 } } = options;
  const clock = () => new Date('2026-11-22T12:00:00Z');
  const server = createServer({
    logLevel: 'silent',
    rateLimits,
    clock,
    authenticate: async () => {
      throw new DomainError('unauthenticated', 'this is no API key');
    },
  });
  const nav = [
    { title: 'Audit', path: '/app/audit', scope: 'audit:read' },
    { title: 'Keys', path: '/app/keys', scope: 'keys:read' },
  ] as const;
  await servePages(server, {
    modules: [{ pages: { nav, routes } }],
    findSignedIn: async (token) => people[token] ?? null,
    masterKey: Buffer.alloc(32),
    publicUrl,
    rateLimits,
    clock,
  });
  return server;
}

/** A browser with cookies. */
export class Visit {
  readonly cookies = new Map<string, string>();
  readonly #server: FastifyInstance;
  readonly #headers: Record<string, string>;

  constructor(server: FastifyInstance, session?: string, headers: Record<string, string> = {}) {
    this.#server = server;
    this.#headers = headers;
    if (session !== undefined) this.cookies.set('evidence_session', session);
  }

  async get(url: string) {
    return this.#send({ method: 'GET', url });
  }

  /** Submits a page's form with the page's token. */
  async submit(url: string, fields: Record<string, string | string[]>, headers: Record<string, string> = {}) {
    const page = await this.get(url);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.body.slice(page.body.indexOf('<main')))?.[1] ?? '';
    return this.post(url, { csrf, ...fields }, headers);
  }

  async post(url: string, fields: Record<string, string | string[]>, headers: Record<string, string> = {}) {
    const pairs = Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    );
    const payload = new URLSearchParams(pairs).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.#send({ method: 'POST', url, payload, headers: { ...type, ...headers } });
  }

  async #send(options: InjectOptions) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = {
      host: 'platform.example',
      ...this.#headers,
      ...(cookie === '' ? {} : { cookie }),
      ...options.headers,
    };
    const answer = await this.#server.inject({ ...options, headers });
    for (const { name, value, maxAge } of answer.cookies) {
      if (maxAge === 0) this.cookies.delete(name);
      else this.cookies.set(name, encodeURIComponent(value));
    }
    return answer;
  }
}
