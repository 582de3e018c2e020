import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { forWhoMay } from '../../web/asked.ts';
import {
  action,
  asCurl,
  dataTable,
  emptyState,
  factList,
  link,
  moment,
  momentOr,
  statusWord,
} from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { withQuery } from '../../web/own-path.ts';
import { SHORT_ROWS } from '../../web/rows.ts';
import { credentialOperations } from '../operations/credentials.ts';
import type { RealismCheck, WireTrap } from '../wire.ts';
import { channelTable } from './channel-table.ts';
import { detectionTable } from './detection-table.ts';
import { hasEnded, isOfVault, ORIGIN_WORDS, PLACE_WORDS, TYPE_WORDS, trapStatusWord } from './labels.ts';
import type { TrapPageParts } from './parts.ts';
import { ABOVE_CREDENTIALS, TRAPS_API, TRAPS_PATH, trapPath, trapsApi } from './paths.ts';

/** Serves the page of a trap: whether it would detect a use, how well it hides, and its detections. */
export function trapPage(server: FastifyInstance, { service, clock }: TrapPageParts): void {
  serveOperationPage(server, credentialOperations(service).getTrap, {
    path: '/traps/credentials/:credential_id',
    api: TRAPS_API,
    async view(trap, { request, params: { credential_id } }) {
      const now = clock();
      const checks = await service.realism.check(credential_id);
      const { data } = await service.detections.list({ credential_id, limit: SHORT_ROWS });
      const empty = emptyState('No detections.');
      const all = withQuery(TRAPS_PATH, { credential_id });
      return {
        title: trap.label,
        above: ABOVE_CREDENTIALS,
        content: [
          facts(trap, now),
          acts(trap, request),
          markup`<h2>Channels</h2>\n`,
          channelTable(trap, now),
          markup`<h2>Realism</h2>\n${realismTable(checks)}`,
          asCurl('curl-realism', curlCommand(request, { path: trapsApi('credentials', credential_id, 'realism') })),
          markup`<h2>Detections</h2>\n`,
          detectionTable(data, { caption: 'Detections', empty, hasStatus: true, now }),
          data.length < SHORT_ROWS ? null : markup`<p class="further">${link(all, 'All detections')}</p>\n`,
        ],
      };
    },
  });
}

function facts(trap: WireTrap, now: Date): Markup {
  const { credential_type, plant_location, rotated_from, rotated_at, decoy } = trap;
  return factList([
    ['Status', trapStatusWord(trap.status)],
    ['Type', TYPE_WORDS[credential_type].title],
    ['Known as', markup`<code>${name(trap.known_as)}</code>`],
    ['Where', PLACE_WORDS[plant_location]],
    ['Origin', ORIGIN_WORDS[trap.origin]],
    ['Leads to', decoy === null ? 'no decoy' : markup`the decoy ${name(decoy)}`],
    ['Created', moment(trap.created_at, now)],
    ['Planted', momentOr(trap.planted_at, now, 'not confirmed')],
    ['Expires', momentOr(trap.expires_at, now, 'never')],
    ['Last used', momentOr(trap.last_detected_at, now, 'never')],
    ...(rotated_at === null ? [] : [['Rotated', moment(rotated_at, now)] as const]),
    ...(rotated_from === null ? [] : [['Replaces', link(trapPath(rotated_from), rotated_from)] as const]),
  ]);
}

function acts(trap: WireTrap, request: FastifyRequest): Markup | null {
  const { credential_id, status, confirmed_at, origin } = trap;
  const isOver = hasEnded(trap);
  const act = (path: string, words: string, weight: 'main' | 'quiet' = 'quiet') =>
    action(trapPath(credential_id, path), words, weight);
  return forWhoMay(
    request,
    'traps:write',
    () =>
      markup`<p class="acts">${[
        isOver || confirmed_at !== null ? null : act('confirm', 'Confirm that it is planted', 'main'),
        act('test', 'Test'),
        isOver || origin !== 'fabricated' || isOfVault(trap) ? null : act('rotate', 'Rotate'),
        status === 'triggered' ? act('reset', 'Reset') : null,
        status === 'revoked' ? null : act('revoke', 'Revoke'),
      ]}</p>\n`,
  );
}

/** Title of each check. */
const CHECK_WORDS: Record<RealismCheck['check'], string> = {
  plain_label: 'Inconspicuous label',
  plain_host: 'Inconspicuous host',
  own_host: 'Separate host',
  certificate: 'Plausible certificate',
  unlisted_account: 'Unlisted account',
  unspent_decoy: 'Unused host',
  planted: 'Planted',
  proved: 'Proved channels',
};

const RESULT_WORDS = {
  passed: statusWord('good', 'passed'),
  failed: statusWord('warning', 'failed'),
  unknown: statusWord('neutral', 'unknown'),
};

function realismTable(checks: readonly RealismCheck[]): Markup {
  return dataTable({
    caption: 'Checks of what could reveal the trap',
    columns: [
      { head: 'Check', kind: 'name', cell: ({ check }) => CHECK_WORDS[check] },
      { head: 'Result', cell: ({ result }) => RESULT_WORDS[result] },
      { head: 'Reason', cell: ({ reason }) => name(reason) },
      { head: 'Next step', cell: ({ next_step }) => next_step ?? markup`<span class="minor">none</span>` },
    ],
    rows: checks,
    empty: emptyState('No checks apply.'),
  });
}
