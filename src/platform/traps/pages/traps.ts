import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { serveOperationList } from '../../operations/list.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, copyable, dataTable, emptyState, link, momentOr } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { filterSelect } from '../../web/filters.ts';
import { PLANT_LOCATIONS, TRAP_TYPES } from '../enums.ts';
import { credentialOperations } from '../operations/credentials.ts';
import type { WireTrap } from '../wire.ts';
import { CHANNEL_WORDS, channelWord, PLACE_WORDS, TYPE_WORDS, trapStatusWord } from './labels.ts';
import type { TrapPageParts } from './parts.ts';
import { ABOVE_TRAPS, TRAPS_API, TRAPS_PATH, trapPath, trapsApi } from './paths.ts';

/** Serves the list of traps, with the states of their channels. */
export function trapsPage(server: FastifyInstance, { service, clock }: TrapPageParts): void {
  serveOperationList(server, credentialOperations(service).listTraps, {
    path: '/traps/credentials',
    api: TRAPS_API,
    head: () => ({
      title: 'All traps',
      above: ABOVE_TRAPS,
      introduction: 'Newest first, without their secrets. Uses of ended traps are still detected.',
    }),
    before: (request) =>
      forWhoMay(request, 'traps:write', () => markup`<p>${action(`${TRAPS_PATH}/new`, 'Create a trap')}</p>\n`),
    filters: ({ credential_type, plant_location }) => [
      filterSelect({ credential_type }, ['credential_type', 'Type'], TRAP_TYPES, (value) => TYPE_WORDS[value].title),
      filterSelect({ plant_location }, ['plant_location', 'Where'], PLANT_LOCATIONS, (value) => PLACE_WORDS[value]),
    ],
    table: (traps, { request, isAll }) =>
      trapTable(traps, isAll ? firstTrap(request) : emptyState('No traps match.'), clock()),
  });
}

const FIRST_TRAP = { credential_type: 'web_bug', plant_location: 'wiki', label: 'salaries' };

function firstTrap(request: FastifyRequest): Markup {
  const command = curlCommand(request, {
    method: 'POST',
    path: trapsApi('credentials', 'generate'),
    body: FIRST_TRAP,
  });
  const text = 'No traps yet. Create one here or with the API, and plant it where an intruder would look:';
  return emptyState(text, copyable('first-trap', 'Create a trap, as an API call', command));
}

function trapTable(traps: readonly WireTrap[], empty: Markup, now: Date): Markup {
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
    empty,
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
