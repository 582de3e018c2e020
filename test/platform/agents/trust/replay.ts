import { dayOf, pointsOf } from '../../../../src/platform/agents/trust/rules.ts';
import type { TrustLine } from '../../../../src/platform/agents/wire/trust.ts';

/** Most points per day. */
const MOST_A_DAY = 5;

/** A line of a ledger that violates its rules. */
interface LedgerFault {
  entry_no: number;
  what: string;
}

/**
 * Recomputes every score of a ledger.
 * @param lines all lines, oldest first.
 * @returns the score after each line, and every contradiction to the lines.
 */
export function replay(lines: readonly TrustLine[]): { scores: number[]; faults: LedgerFault[] } {
  const scores: number[] = [];
  const faults: LedgerFault[] = [];
  const earned = new Map<string, number>();
  let score = 0;
  for (const [index, line] of lines.entries()) {
    const { entry_no, rule, points, ceiling } = line;
    const expect = (what: string, stated: number | string, computed: number | string) => {
      if (stated !== computed) faults.push({ entry_no, what: `${what} is ${stated}, and should be ${computed}` });
    };
    expect('entry_no', entry_no, index + 1);
    if (index === 0 || rule === 'registered') expect('rule', rule, index === 0 ? 'registered' : 'another one');
    expect('before', line.before, score);
    expect('points', points, pointsOf(rule, score));
    score = Math.max(0, Math.min(score + points, 100, ceiling));
    expect('after', line.after, score);
    scores.push(score);
    if (rule !== 'attested_action') continue;
    const day = dayOf(line.at);
    earned.set(day, (earned.get(day) ?? 0) + points);
    if (Number(earned.get(day)) > MOST_A_DAY)
      faults.push({ entry_no, what: `more than ${MOST_A_DAY} points were earned on ${day}` });
  }
  return { scores, faults };
}
