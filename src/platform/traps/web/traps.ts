import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { forWhoMay, queryOf } from '../../web/asked.ts';
import { action, asCurl, dataTable, emptyState, further, link, momentOr } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { withQuery } from '../../web/own-path.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { trapQuerySchema, type WireTrap } from '../requests.ts';
import { MAY_SEE, type TrapPageParts } from './parts.ts';
import { ABOVE_TRAPS, CREDENTIALS_PATH, TRAPS_PATH, trapPath, trapsApi } from './paths.ts';
import { CHANNEL_WORDS, channelWord, PLACE_WORDS, TYPE_WORDS, trapStatusWord } from './words.ts';

/** The traps, with what is true of their channels. */
export function trapsPage(server: FastifyInstance, { service, clock }: TrapPageParts): void {
  const options = { config: MAY_SEE, schema: { hide: true, querystring: trapQuerySchema } } as const;
  server.get('/traps/credentials', options, async (request, reply) => {
    const query = queryOf<z.output<typeof trapQuerySchema>>(request);
    const { data, next_cursor } = await service.traps.list({ ...query, limit: LIST_ROWS });
    const { limit: _, cursor: __, ...asked } = query;
    return reply.page({
      title: 'All traps',
      above: ABOVE_TRAPS,
      introduction: 'Newest first, without their secrets. One that has ended is seen still when somebody uses it.',
      content: [
        forWhoMay(request, 'traps:write', () => markup`<p>${action(`${TRAPS_PATH}/new`, 'Make a trap')}</p>\n`),
        trapTable(data, clock()),
        further(next_cursor === null ? null : withQuery(CREDENTIALS_PATH, { ...asked, cursor: next_cursor })),
        asCurl('curl', curlCommand(request, { path: withQuery(trapsApi('credentials', ''), asked) })),
      ],
    });
  });
}

function trapTable(traps: readonly WireTrap[], now: Date): Markup {
  return dataTable({
    caption: 'Traps',
    columns: [
      { head: 'Trap', kind: 'name', cell: trapCell },
      { head: 'Status', cell: ({ status }) => trapStatusWord(status) },
      { head: 'Where', cell: ({ plant_location }) => PLACE_WORDS[plant_location] },
      { head: 'Known as', cell: ({ known_as }) => markup`<code>${name(known_as)}</code>` },
      { head: 'Channels', cell: (trap) => channelWords(trap, now) },
      { head: 'Last proved', cell: (trap) => momentOr(lastProof(trap), now, 'never') },
    ],
    rows: traps,
    empty: emptyState('There is no trap yet. Make one, and plant it where an intruder would look.'),
  });
}

function trapCell({ credential_id, label, credential_type }: WireTrap): Markup {
  return markup`${link(trapPath(credential_id), label)} <span class="minor">${TYPE_WORDS[credential_type].title}</span>`;
}

function channelWords({ detection_channels }: WireTrap, now: Date): Markup {
  const one = (each: WireTrap['detection_channels'][number]) =>
    markup`<li>${CHANNEL_WORDS[each.channel]}: ${channelWord(each, now)}</li>`;
  return markup`<ul class="plain">${detection_channels.map(one)}</ul>`;
}

function lastProof({ detection_channels }: WireTrap): string | null {
  const proofs = detection_channels.map(({ last_proved_at }) => last_proved_at).filter((at) => at !== null);
  return proofs.toSorted().at(-1) ?? null;
}
