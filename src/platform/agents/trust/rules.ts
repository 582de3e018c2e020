import type { Json } from '../../../core/json/canonical.ts';
import type { Agent } from '../agent-rows.ts';
import { type CeilingCause, TIERS, type TrustRuleName } from '../enums.ts';
import type { TrustTimes } from '../settings.ts';
import type { TrustLine } from '../wire/trust.ts';

const DAY_MS = 24 * 60 * 60_000;

export const LOWEST = 0;
const HIGHEST = 100;

/** Score at or below which an agent is suspended. */
export const SUSPENDED_AT = 20;

/** Maximum points that actions earn in a UTC day. */
export const EARNED_A_DAY = 5;

/** Range of the score after a reinstatement, within RESTRICTED. */
const REINSTATED = { from: 21, to: 40 };

/** Highest score of an agent that is held in MONITOR. */
const MONITOR_AT_MOST = 60;
const TRUSTED_AT_MOST = 80;

/** Points of each rule; `pointsOf` computes those of the others. */
const POINTS: Readonly<Record<Exclude<TrustRuleName, 'reinstated' | 'idle'>, number>> = {
  registered: 50,
  onboarded: 10,
  attested_action: 1,
  tool_outside: -15,
  api_outside: -10,
  malformed_hash: -3,
  bad_signature: -20,
  attempt_while_suspended: -5,
  decoy_used: -30,
  composition_changed: 0,
  held_by_parent: 0,
};

/** Returns the points of a rule for an agent with this score. */
export function pointsOf(rule: TrustRuleName, score: number): number {
  if (rule === 'reinstated') return clamped(score, REINSTATED.from, REINSTATED.to) - score;
  if (rule === 'idle') return floorOf(score) - score;
  return POINTS[rule];
}

/** Highest score that an agent may have, with the reason. */
export interface Ceiling {
  score: number;
  because: CeilingCause;
  /** Time at which the ceiling rises by itself; null if it does not. */
  until: string | null;
}

/** Facts that a ceiling depends on. */
type CeilingFacts = Pick<Agent, 'trusted_since' | 'composition_changed_at'> & {
  /** Score of the parent; null without a parent. */
  parentScore: number | null;
};

/** Returns the lowest ceiling that applies; of equal ones, the one that can be lifted by acting. */
export function ceilingOf(facts: CeilingFacts, now: Date, times: TrustTimes): Ceiling {
  return ceilingsOf(facts, now, times).reduce((lowest, each) => (each.score < lowest.score ? each : lowest));
}

function ceilingsOf(
  { trusted_since, composition_changed_at, parentScore }: CeilingFacts,
  now: Date,
  times: TrustTimes,
) {
  const ceilings: Ceiling[] = [];
  const add = (score: number, because: CeilingCause, until: string | null = null) =>
    ceilings.push({ score, because, until });
  if (composition_changed_at !== null) add(MONITOR_AT_MOST, 'composition_changed');
  if (trusted_since === null) add(MONITOR_AT_MOST, 'not_onboarded');
  if (parentScore !== null) add(parentScore, 'parent');
  if (trusted_since !== null) {
    const trusted = daysAfter(trusted_since, times.trustedAfterDays);
    const verified = daysAfter(trusted_since, times.trustedAfterDays + times.verifiedAfterDays);
    if (now < trusted) add(MONITOR_AT_MOST, 'time', trusted.toISOString());
    else if (now < verified) add(TRUSTED_AT_MOST, 'time', verified.toISOString());
  }
  add(HIGHEST, 'none');
  return ceilings;
}

/** @param time RFC 3339. */
export function daysAfter(time: string, days: number): Date {
  return new Date(Date.parse(time) + days * DAY_MS);
}

/** Returns the UTC day of a time: `YYYY-MM-DD`. */
export function dayOf(at: string): string {
  return at.slice(0, 'YYYY-MM-DD'.length);
}

/** Returns the lowest score of a score's tier. */
function floorOf(score: number): number {
  return TIERS.find(({ from }) => score >= from)?.from ?? LOWEST;
}

function clamped(score: number, lowest: number, highest: number): number {
  return Math.max(lowest, Math.min(score, highest));
}

/** Cause of a line. */
interface LineCause {
  rule: TrustRuleName;
  at: string;
  ceiling: Pick<Ceiling, 'score' | 'because'>;
  action_id?: string | undefined;
  detail?: { [name: string]: Json } | undefined;
}

/** Rules that write no line if they change nothing; all others are facts worth a line. */
const ONLY_CHANGES: readonly TrustRuleName[] = ['attested_action', 'held_by_parent', 'idle'];

/** Returns the next line of a ledger; null if there is nothing to write. */
export function nextLine(
  { score: before, ledger_length }: Pick<Agent, 'score' | 'ledger_length'>,
  cause: LineCause,
): TrustLine | null {
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
