import type { StreamFinding } from '../model/stream-finding.ts';
import { entriesIn } from './continuity-question.ts';
import { isPlaced } from './span.ts';
import type { Span } from './span-schema.ts';

/**
 * The advice on entries that a package leaves out within itself, where an earlier run has them: nobody need be asked for
 * what is archived already.
 */
export function withKnownGaps(findings: readonly StreamFinding[], earlier: readonly Span[]): StreamFinding[] {
  const whole = earlier.filter(isPlaced).filter(({ part }) => !part);
  return findings.map((finding) => {
    const { code, from, to } = finding;
    if (code !== 'order/gap' || from === undefined || to === undefined) return finding;
    const holder = whole.find(({ entries }) => entries.first_sequence <= from && to <= entries.head.sequence);
    if (holder === undefined) return finding;
    const what = entriesIn(from, to);
    const next_step = `Run ${holder.run_id} recorded that it exported ${what}: look into its bundle, keep both, and ask the operator of the service why this one lacks what that one has.`;
    return { ...finding, next_step };
  });
}
