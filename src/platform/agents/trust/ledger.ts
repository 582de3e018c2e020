import type { Json } from '../../../core/json/canonical.ts';
import type { CeilingCause, TrustRuleName } from '../enums.ts';
import { type Ceiling, clamped, dayOf, EARNED_A_DAY, HIGHEST, LOWEST, pointsOf } from './rules.ts';

/** One line of an agent's ledger: `after` is `before + points`, within 0 and the ceiling. */
export interface TrustLine {
  /** From 1 on. */
  entry_no: number;
  at: string;
  rule: TrustRuleName;
  /** Asked for; what was given is the difference of the scores. */
  points: number;
  before: number;
  after: number;
  ceiling: number;
  ceiling_because: CeilingCause;
  action_id: string | null;
  detail: { [name: string]: Json };
}

/** The end of a ledger. */
export interface TrustLedgerEnd {
  /** 0 for an empty one. */
  score: number;
  /** Number of its last line. */
  ledger_length: number;
}

/** The cause of a line. */
export interface LineCause {
  rule: TrustRuleName;
  at: string;
  ceiling: Pick<Ceiling, 'score' | 'because'>;
  action_id?: string | undefined;
  detail?: { [name: string]: Json } | undefined;
}

/** These say nothing where they change nothing. All others are facts of their own. */
const ONLY_CHANGES: readonly TrustRuleName[] = ['attested_action', 'held_by_parent', 'idle'];

/** The line with which a ledger goes on; null where there is nothing to say. */
export function nextLine({ score: before, ledger_length }: TrustLedgerEnd, cause: LineCause): TrustLine | null {
  const { rule, at, ceiling, action_id = null, detail = {} } = cause;
  const points = pointsOf(rule, before);
  const after = afterOf({ before, points, ceiling: ceiling.score });
  if (after === before && ONLY_CHANGES.includes(rule)) return null;
  return {
    entry_no: ledger_length + 1,
    at,
    rule,
    points,
    before,
    after,
    ceiling: ceiling.score,
    ceiling_because: ceiling.because,
    action_id,
    detail,
  };
}

function afterOf({ before, points, ceiling }: Pick<TrustLine, 'before' | 'points' | 'ceiling'>): number {
  return clamped(before + points, LOWEST, Math.min(HIGHEST, ceiling));
}

/** A place where a ledger does not follow from its rules. */
export interface LedgerFault {
  entry_no: number;
  what: string;
}

/**
 * Computes every score of a ledger again.
 * @param lines all of them, oldest first.
 * @returns the score after each line, and what does not agree with the lines.
 */
export function replay(lines: readonly TrustLine[]): { scores: number[]; faults: LedgerFault[] } {
  const scores: number[] = [];
  const faults: LedgerFault[] = [];
  const earned = new Map<string, number>();
  let score = LOWEST;
  for (const [index, line] of lines.entries()) {
    const { entry_no, rule, points, ceiling } = line;
    const expect = (what: string, stated: number | string, computed: number | string) => {
      if (stated !== computed) faults.push({ entry_no, what: `${what} is ${stated}, and should be ${computed}` });
    };
    expect('entry_no', entry_no, index + 1);
    if (index === 0 || rule === 'registered') expect('rule', rule, index === 0 ? 'registered' : 'another one');
    expect('before', line.before, score);
    expect('points', points, pointsOf(rule, score));
    score = afterOf({ before: score, points, ceiling });
    expect('after', line.after, score);
    scores.push(score);
    if (rule !== 'attested_action') continue;
    const day = dayOf(line.at);
    earned.set(day, (earned.get(day) ?? 0) + points);
    if (Number(earned.get(day)) > EARNED_A_DAY)
      faults.push({ entry_no, what: `more than ${EARNED_A_DAY} points were earned on ${day}` });
  }
  return { scores, faults };
}
