import type { FastifyInstance } from 'fastify';
import { each, markup } from '../../core/html/markup.ts';
import { personOf } from './access.ts';
import { link } from './components.ts';
import type { NavItem } from './layout.ts';

/** The page that people come to first. */
export function frontPage(server: FastifyInstance, nav: readonly NavItem[]): void {
  server.get('/', { config: { signedIn: true }, schema: { hide: true } }, (request, reply) => {
    const { scopes } = personOf(request);
    const open = nav.filter(({ scope }) => scopes.includes(scope));
    return reply.page({
      title: 'Overview',
      content: markup`<ul>${each(open, ({ path, title }) => markup`<li>${link(path, title)}</li>`)}</ul>`,
    });
  });
}
