import { type Markup, markup } from '../../../core/html/markup.ts';
import { plural } from '../../../core/plurals.ts';
import type { AlertSeverity, AlertState } from '../../alert-enums.ts';
import { type StatusTone, statusWord } from '../../web/components.ts';
import type { AlertStanding } from '../alert.ts';

export const SEVERITY_TONES: Record<AlertSeverity, StatusTone> = {
  low: 'neutral',
  medium: 'warning',
  high: 'bad',
  critical: 'bad',
};

export function severityWord(severity: AlertSeverity): Markup {
  return statusWord(SEVERITY_TONES[severity], severity);
}

const ALERT_WORDS: Record<AlertState, readonly [StatusTone, string]> = {
  none: ['neutral', 'nobody is notified'],
  suppressed: ['neutral', 'covered by an earlier alert'],
  pending: ['neutral', 'pending'],
  delivered: ['good', 'delivered'],
  dead: ['bad', 'not delivered'],
};

export function alertWord(state: AlertState): Markup {
  return statusWord(...ALERT_WORDS[state]);
}

/** Renders the state of an alert, with the number of attempts. */
export function alertFact({ state, attempts }: AlertStanding): Markup {
  return markup`${alertWord(state)}${attempts === 0 ? null : markup` <span class="minor">after ${plural(attempts, 'attempt')}</span>`}`;
}
