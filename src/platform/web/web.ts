import { hkdfSync } from 'node:crypto';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { HttpProblem } from '../http/problem.ts';
import { type AccessOptions, requirePerson } from './access.ts';
import { Assets } from './assets.ts';
import { asCurl } from './components.ts';
import { refuseForeignForms } from './csrf.ts';
import { curlCommand } from './curl.ts';
import { answerProblemPage } from './errors.ts';
import { frontPage } from './front.ts';
import { layout, type NavItem, type PageView } from './layout.ts';
import { rememberOrigin } from './origin.ts';
import type { ModuleOverview } from './overview.ts';
import { FRONT, PAGES } from './own-path.ts';
import { cookieFlags, takeNotice } from './session-cookie.ts';

/** Content Security Policy (Level 3) under which injected content neither runs nor loads. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  // Live pages fetch themselves.
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  // Addresses may contain tokens. With `no-referrer`, forms would send `Origin: null`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Maximum size of a form. */
const BODY_LIMIT = 64 * 1024;

/** Pages of a service, whose routes are registered under `/app`. */
export interface ModulePages {
  nav: readonly NavItem[];
  routes: FastifyPluginAsync;
}

export interface WebOptions extends AccessOptions {
  modules: readonly { pages?: ModulePages; overview?: ModuleOverview }[];
  /** Key of the data folder, from which the key that signs cookies is derived. */
  masterKey: Uint8Array;
  /** Public origin of the platform, if configured. */
  publicUrl: string | null;
}

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with a page. */
    page(view: PageView): FastifyReply;
  }
}

/** Serves the pages of all services in a common frame. */
export async function servePages(server: FastifyInstance, options: WebOptions): Promise<void> {
  const assets = await Assets.read();
  server.get('/', { config: { public: true }, schema: { hide: true } }, (_request, reply) =>
    reply.redirect(FRONT, 303),
  );
  await server.register(assets.routes, { prefix: `${PAGES}/assets` });
  await server.register((pages) => frame(pages, assets, options), { prefix: PAGES });
}

async function frame(server: FastifyInstance, assets: Assets, options: WebOptions): Promise<void> {
  server.addHook('onRoute', (route) => {
    route.config = { ...route.config, isPage: true };
  });
  server.removeAllContentTypeParsers();
  await server.register(formbody, { bodyLimit: BODY_LIMIT });
  const secret = Buffer.from(hkdfSync('sha256', options.masterKey, Buffer.alloc(32), 'web/cookies', 32));
  await server.register(cookie, { secret, parseOptions: cookieFlags(options.publicUrl) });
  server.addHook('onRequest', async (_request, reply) => {
    reply.headers(HEADERS);
  });
  const pages = options.modules.flatMap((module) => module.pages ?? []);
  const nav = pages.flatMap((each) => each.nav);
  framePages(server, assets, nav);
  rememberOrigin(server, options.publicUrl);
  server.setErrorHandler(answerProblemPage);
  requirePerson(server, options);
  refuseForeignForms(server, options.publicUrl);
  const overviews = options.modules.flatMap((module) => module.overview ?? []);
  frontPage(server, overviews, options.clock);
  for (const { routes } of pages) await server.register(routes);
  server.all('/*', { config: { public: true }, schema: { hide: true } }, () => {
    throw new HttpProblem(404, 'not_found', 'no page exists at this address');
  });
}

function framePages(server: FastifyInstance, assets: Assets, nav: readonly NavItem[]): void {
  server.decorateReply('page', function page(view: PageView) {
    const { request } = this;
    const [path = ''] = request.url.split('?', 1);
    const notice = takeNotice(request, this);
    const parts = { nav, assets, person: request.person, path, notice };
    const call = view.api === undefined ? null : asCurl('curl', curlCommand(request, view.api));
    const text = [...layout({ ...view, content: [view.content, call] }, parts).write()].join('');
    return this.code(view.status ?? 200)
      .type('text/html; charset=utf-8')
      .send(text);
  });
}
