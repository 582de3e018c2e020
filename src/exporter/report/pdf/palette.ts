import type { Color } from '../../../core/typesetting/canvas.ts';
import type { Outcome } from '../../../verifier/records/outcome.ts';
import type { Tone } from '../view/outcome.ts';

export const WHITE: Color = [1, 1, 1];
export const GREEN: Color = [0.08, 0.4, 0.24];
export const RED: Color = [0.7, 0.09, 0.11];
/** White on it is read at 5:1. */
export const AMBER: Color = [0.66, 0.35, 0.0];
export const BAR: Color = [0.24, 0.43, 0.66];
export const PALE: Color = [0.955, 0.96, 0.97];
const PALE_GREEN: Color = [0.89, 0.95, 0.91];
const PALE_RED: Color = [0.98, 0.88, 0.88];
const PALE_AMBER: Color = [0.99, 0.93, 0.82];

/** Calm tones are dark on pale; others are white on the full color. */
export const TONES: Record<Tone, { ground: Color; ink: Color; strong: Color }> = {
  calm: { ground: PALE_GREEN, ink: GREEN, strong: GREEN },
  alarm: { ground: RED, ink: WHITE, strong: RED },
  caution: { ground: AMBER, ink: WHITE, strong: AMBER },
};

export const OUTCOME_COLORS: Record<Outcome, { ground: Color; ink: Color; mark: string }> = {
  verified: { ground: PALE_GREEN, ink: GREEN, mark: '✓' },
  collected: { ground: PALE, ink: [0.24, 0.43, 0.66], mark: '•' },
  refuted: { ground: PALE_RED, ink: RED, mark: '✗' },
  incomplete: { ground: PALE_AMBER, ink: AMBER, mark: '!' },
  empty: { ground: PALE, ink: [0.38, 0.41, 0.45], mark: '–' },
};
