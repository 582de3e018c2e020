import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import type { NameActor } from '../../accounts/api.ts';
import { SEVERITY_TONES } from '../../alerts/api.ts';
import { type Fact, moment, type StatusTone, statusWord } from '../../web/components.ts';
import { EVENT_SEVERITIES, type EventSeverity, type EventStatus, type EventType, type HostStatus } from '../enums.ts';
import type { WireBaseline } from '../wire/baselines.ts';
import type { WireWindow } from '../wire/events.ts';
import type { WireHost } from '../wire/hosts.ts';

/** Name and meaning of each event type. */
export const EVENT_WORDS: Record<EventType, { word: string; sentence: string }> = {
  binary_modified: { word: 'content changed', sentence: 'The content differs from the baseline.' },
  binary_added: { word: 'new file', sentence: 'The baseline has nothing at this path.' },
  binary_removed: {
    word: 'file removed',
    sentence: 'The baseline has a file at this path, but the endpoint does not.',
  },
  attributes_changed: {
    word: 'owner or permissions changed',
    sentence: 'The content matches the baseline, but the owner or the permissions do not.',
  },
  file_type_changed: {
    word: 'file type changed',
    sentence: 'The file at this path has another type than in the baseline.',
  },
  binary_unreadable: {
    word: 'cannot be read',
    sentence: 'The sensor could not read the file, so its content is unknown.',
  },
  binary_unstable: {
    word: 'changes while being read',
    sentence: 'The file changed each time the sensor read it, so its content is unknown.',
  },
  bait_missing: { word: 'bait missing', sentence: 'The planted file is no longer at its path.' },
  bait_changed: {
    word: 'bait changed',
    sentence: 'Somebody wrote to the planted file, or changed its times or owner, which can hide a read.',
  },
  report_gap: { word: 'reports missing', sentence: 'Reports before this one never arrived. The report was refused.' },
  report_repeated: { word: 'report repeated', sentence: 'The sensor sent a report that is not new. It was refused.' },
  report_fork: {
    word: 'two machines report',
    sentence: 'Two machines report with one key, so one of them is a copy. The report was refused.',
  },
  report_signature: {
    word: 'invalid signature',
    sentence: 'A report was not signed by this endpoint. It was refused.',
  },
  snapshot_restored: {
    word: 'went back in time',
    sentence:
      'Another report already has this number: the machine was restored from a snapshot, or another machine has its key. The report was refused.',
  },
  clock_jump: {
    word: 'clock is wrong',
    sentence: 'The clock of the endpoint differs from the clock of this platform by more than an hour.',
  },
  key_changed: { word: 'key changed', sentence: 'The sensor sent another key than before. It was refused.' },
  stale: { word: 'not reporting', sentence: 'The endpoint has not reported for three intervals.' },
};

export const EVENT_STATUS_WORDS: Record<EventStatus, string> = {
  open: 'open',
  acknowledged: 'acknowledged',
  quieted: 'quieted',
  resolved: 'resolved',
};

export function eventStatusWord(status: EventStatus): Markup {
  const tone = status === 'open' ? 'bad' : status === 'resolved' ? 'good' : 'neutral';
  return statusWord(tone, EVENT_STATUS_WORDS[status]);
}

export const HOST_STATUS_WORDS: Record<HostStatus, readonly [StatusTone, string]> = {
  waiting: ['neutral', 'never reported'],
  reporting: ['good', 'reports'],
  stale: ['bad', 'stale'],
  retired: ['neutral', 'retired'],
};

/** Returns the states of an endpoint that matter most. */
export function hostStateWords({ status, baseline, isolation, chain }: WireHost): Markup {
  const words = [
    statusWord(...HOST_STATUS_WORDS[status]),
    ...(chain.went_back_at === null ? [] : [statusWord('bad', 'reports went back')]),
    ...(baseline === null && status !== 'retired' ? [statusWord('warning', 'no baseline')] : []),
    ...(isolation.isolated ? [statusWord('warning', 'labeled as isolated')] : []),
  ];
  return markup`<ul class="words">${words.map((word) => markup`<li>${word}</li>`)}</ul>`;
}

/** Counts the differences on an endpoint. An endpoint without comparison is not called good. */
export function driftWords({ events, baseline }: Pick<WireHost, 'events' | 'baseline'>): Markup {
  const counts = countWords(events);
  if (counts !== null) return counts;
  return baseline === null ? markup`<span class="minor">not compared</span>` : markup`<span class="minor">none</span>`;
}

/** Renders counts by severity, the worst first; null if there are none. */
export function countWords(counts: Record<EventSeverity, number>): Markup | null {
  const some = EVENT_SEVERITIES.toReversed().filter((severity) => counts[severity] > 0);
  if (some.length === 0) return null;
  const word = (severity: EventSeverity) =>
    markup`<li>${statusWord(SEVERITY_TONES[severity], `${grouped(counts[severity])} ${severity}`)}</li>`;
  return markup`<ul class="words">${some.map(word)}</ul>`;
}

/** Renders the number of missed scans. */
export function missedWord(count: number): Markup {
  return count === 0 ? markup`0` : statusWord('warning', grouped(count));
}

export const BASELINE_WORDS: Record<WireBaseline['status'], readonly [StatusTone, string]> = {
  proposed: ['warning', 'proposed'],
  active: ['good', 'active'],
  superseded: ['neutral', 'replaced'],
  rejected: ['neutral', 'rejected'],
};

export function baselineStatusWord(status: WireBaseline['status']): Markup {
  return statusWord(...BASELINE_WORDS[status]);
}

const WINDOW_WORDS: Record<WireWindow['status'], readonly [StatusTone, string]> = {
  planned: ['neutral', 'planned'],
  running: ['warning', 'open'],
  ended: ['neutral', 'ended'],
};

export function windowStatusWord(status: WireWindow['status']): Markup {
  return statusWord(...WINDOW_WORDS[status]);
}

/** Renders who did something, and when. */
export function byWhom(actor: string, at: string, now: Date): Markup {
  return markup`${name(actor)}, ${moment(at, now)}`;
}

/** Returns the facts of a decision; none before it. */
export function decisionFacts(
  label: string,
  { by, at, why }: Record<'by' | 'at' | 'why', string | null>,
  call: NameActor,
  now: Date,
): Fact[] {
  if (by === null || at === null) return [];
  return [
    [label, byWhom(call(by), at, now)],
    ['Reason', name(why ?? '')],
  ];
}

/** Notice before an endpoint is labeled, and while it is. */
export const ONLY_A_LABEL = 'This is only a label: the machine is not disconnected from the network.';
