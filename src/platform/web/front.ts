import type { FastifyInstance } from 'fastify';
import { type Markup, markup } from '../../core/html/markup.ts';
import { hangUpOf } from '../http/caller.ts';
import { personOf } from './access.ts';
import { emptyState, moment, statusWord, tile } from './components.ts';
import type { ModuleOverview, TimelineEvent } from './overview.ts';

/** Maximum number of events shown; the pages of the services list all of them. */
const MOST_EVENTS = 30;

/** Serves the front page: whether anything is wrong, since when, the last check, and the next step. */
export function frontPage(server: FastifyInstance, overviews: readonly ModuleOverview[], clock: () => Date): void {
  server.get('/', { config: { signedIn: true }, schema: { hide: true } }, async (request, reply) => {
    const { scopes } = personOf(request);
    const own = overviews.filter(({ scope }) => scopes.includes(scope));
    const signal = hangUpOf(reply);
    const read = await Promise.all(own.map((each) => each.read(signal)));
    const known = read.map((each) => each.tile).filter((each) => each !== null);
    return reply.page({
      title: 'Overview',
      content: markup`<div class="tiles">
${known.map(tile)}</div>
<h2>Recent events</h2>
${timeline(
  read.flatMap((each) => each.events),
  clock(),
)}`,
    });
  });
}

function timeline(events: readonly TimelineEvent[], now: Date): Markup {
  if (events.length === 0) return emptyState('No events.');
  const newest = events.toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, MOST_EVENTS);
  return markup`<ol class="timeline">
${newest.map(({ at, tone, words }) => markup`<li class="${tone}"><span class="when">${moment(at, now)}</span> <span class="what">${statusWord(tone, '')}${words}</span></li>\n`)}</ol>
`;
}
