import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { plural } from '../../../core/plurals.ts';
import { factList, link, moment, momentOr, type TileView } from '../../web/components.ts';
import type { OverviewOfModule, TimelineEvent } from '../../web/overview.ts';
import type { TrapsOverview } from '../overview.ts';
import type { WireDetection } from '../wire.ts';
import { DEPTH_WORDS } from './labels.ts';
import type { TrapPageParts } from './parts.ts';
import { CREDENTIALS_PATH, detectionPath, TRAPS_PATH } from './paths.ts';

const MOST = 30;

/** Summarizes all traps and the latest detections. */
export async function trapsOverview({ service, clock }: TrapPageParts): Promise<OverviewOfModule> {
  const overview = await service.overview();
  const { data } = await service.detections.list({ limit: MOST });
  return { tile: tileOf(overview, clock()), events: data.map(eventOf) };
}

function tileOf(overview: TrapsOverview, now: Date): TileView {
  return {
    title: 'Traps',
    ...verdictOf(overview),
    content: factList([
      ['What', what(overview)],
      ['Since', since(overview, now)],
      ['Oldest proof of a channel', momentOr(overview.proved_since, now, 'never')],
    ]),
  };
}

/** Returns the verdict, worst first. Never calls an unproved channel good. */
function verdictOf({ open, planted, unproved, lost }: TrapsOverview): Pick<TileView, 'tone' | 'word' | 'next'> {
  if (open !== null)
    return { tone: 'bad', word: 'Traps were used', next: { title: 'See the detections', path: TRAPS_PATH } };
  const traps = { title: 'See the traps', path: CREDENTIALS_PATH };
  if (lost > 0) return { tone: 'warning', word: 'Decoys are missing', next: traps };
  if (unproved > 0) return { tone: 'warning', word: 'Not proved', next: { ...traps, title: 'Choose a trap to test' } };
  if (planted === 0)
    return {
      tone: 'neutral',
      word: 'No planted traps yet',
      next: { title: 'Create and plant a trap', path: TRAPS_PATH },
    };
  return { tone: 'good', word: 'No open detections', next: traps };
}

function what({ open, planted, unproved, lost }: TrapsOverview): string {
  const facts = [
    ...(open === null ? [] : [`${plural(open.count, 'open detection')}, at worst ${open.worst}`]),
    ...(lost === 0 ? [] : [`${plural(lost, 'trap')} whose decoy is not listening`]),
    ...(unproved === 0 ? [] : [`${plural(unproved, 'trap')} with channels not proved in the last 30 days`]),
    ...(planted === 0 ? ['no use would be detected'] : []),
  ];
  return facts.length === 0 ? `${plural(planted, 'trap')} planted, all proved` : facts.join('; ');
}

function since({ open }: TrapsOverview, now: Date): Markup | string {
  return open === null ? 'no known problems' : markup`first seen ${moment(open.since, now)}`;
}

function eventOf(detection: WireDetection): TimelineEvent {
  const { detection_id, label, status, depth, source_ip, last_seen } = detection;
  const by = source_ip === null ? null : markup` by ${name(source_ip)}`;
  return {
    at: last_seen,
    tone: status === 'open' ? 'bad' : 'neutral',
    words: markup`The trap ${link(detectionPath(detection_id), label)} was ${DEPTH_WORDS[depth].word}${by}.`,
  };
}
