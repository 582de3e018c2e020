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
  binary_modified: { word: 'content changed', sentence: 'The content is another one than the baseline has.' },
  binary_added: { word: 'new file', sentence: 'The baseline has nothing at this path.' },
  binary_removed: { word: 'file removed', sentence: 'The baseline has a file at this path, and nothing stands there.' },
  attributes_changed: {
    word: 'owner or permissions changed',
    sentence: 'The content is the one of the baseline. Its owner or its permissions are not.',
  },
  file_type_changed: {
    word: 'no longer the same kind of file',
    sentence: 'Something of another kind stands where the baseline has a file.',
  },
  binary_unreadable: { word: 'cannot be read', sentence: 'The sensor could not read it: nobody knows what it is.' },
  binary_unstable: {
    word: 'changes while it is read',
    sentence: 'It changed each time that the sensor read it: nobody knows what it is.',
  },
  bait_missing: { word: 'bait is gone', sentence: 'What the sensor planted is not at its path any more.' },
  bait_changed: {
    word: 'bait was changed',
    sentence: 'Somebody wrote to what the sensor planted, or set its times or its owner: a read can have been hidden.',
  },
  report_gap: { word: 'reports are missing', sentence: 'The sensor goes on after reports that never arrived here.' },
  report_repeated: { word: 'report came again', sentence: 'A report came that is not new. It was refused.' },
  report_fork: {
    word: 'two machines report',
    sentence: 'Two machines report with one key: one of them is a copy. The report was refused.',
  },
  report_signature: {
    word: 'wrong signature',
    sentence: 'A report came that this endpoint did not sign. It was refused.',
  },
  snapshot_restored: {
    word: 'went back in time',
    sentence:
      'Another report has this number already: the machine was restored from a snapshot, or a second one has its key. The report was refused.',
  },
  clock_jump: { word: 'clock is wrong', sentence: 'Its clock is more than an hour off the clock of this platform.' },
  key_changed: { word: 'another key', sentence: 'The sensor has another key than before. It was refused.' },
  stale: { word: 'does not report', sentence: 'Three intervals went by without a report.' },
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
    ...(isolation.isolated ? [statusWord('warning', 'labelled as isolated')] : []),
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
    ['Why', name(why ?? '')],
  ];
}

/** Notice before an endpoint is labeled, and while it is. */
export const ONLY_A_LABEL = 'This is a label: nothing is cut off the network.';
