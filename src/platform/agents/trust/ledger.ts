import type { Agent } from '../agent-rows.ts';
import type { TrustNote } from '../deps.ts';
import { tierOf } from '../enums.ts';
import type { TrustTimes } from '../settings.ts';
import type { TrustLine } from '../wire/trust.ts';
import { ceilingText, EARNS_NOTHING, reasonsOf } from './reasons.ts';
import { ceilingOf, dayOf, daysAfter, EARNED_A_DAY, nextLine } from './rules.ts';

/** Fields of an agent that its ledger changes. */
export type TrustStanding = Pick<
  Agent,
  | 'score'
  | 'tier'
  | 'ledger_length'
  | 'trusted_since'
  | 'composition_changed_at'
  | 'attested_at'
  | 'attested_day'
  | 'attested_points'
  | 'due_at'
>;

export interface StepDeps {
  now: Date;
  times: TrustTimes;
  /** Score of the parent; null without a parent. */
  parentScore: number | null;
}

/** Effect of one note on its agent. */
export interface TrustStep {
  standing: TrustStanding;
  /** Line of the ledger; null if there is none to write. */
  line: TrustLine | null;
  /** Readable sentences. */
  reasons: string[];
}

export function stepOf(before: TrustStanding, note: TrustNote, deps: StepDeps): TrustStep {
  const { now, times, parentScore } = deps;
  const { rule, action_id, detail } = note;
  const at = now.toISOString();
  const standing = { ...before, ...factsAfter(before, note, deps) };
  if (isSaidBefore(before, note)) return { standing, line: null, reasons: [] };
  const day = dayOf(at);
  const earned = earnedOn(day, standing);
  if (rule === 'attested_action' && earned >= EARNED_A_DAY)
    return { standing, line: null, reasons: [EARNS_NOTHING.enough_today] };
  const ceiling = ceilingOf({ ...standing, parentScore }, now, times);
  const line = nextLine(standing, { rule, at, ceiling, action_id, detail });
  if (line === null) return { standing, line, reasons: rule === 'attested_action' ? [ceilingText(ceiling)] : [] };
  const after = { score: line.after, tier: tierOf(line.after), ledger_length: line.entry_no };
  const counted = rule === 'attested_action' ? { attested_day: day, attested_points: earned + 1 } : {};
  return { standing: { ...standing, ...after, ...counted }, line, reasons: reasonsOf(line) };
}

/**
 * Returns the points already earned on a day. A day before the last one counts as full, so that setting back a clock
 * earns nothing twice.
 */
function earnedOn(day: string, { attested_day, attested_points }: TrustStanding): number {
  if (attested_day === null || attested_day < day) return 0;
  return attested_day === day ? attested_points : EARNED_A_DAY;
}

/** Returns the changes by a note besides the score. */
function factsAfter(
  { trusted_since }: TrustStanding,
  { rule }: TrustNote,
  { now, times }: StepDeps,
): Partial<TrustStanding> {
  const at = now.toISOString();
  const due_at = daysAfter(at, times.idleDays).toISOString();
  switch (rule) {
    case 'onboarded':
      return { trusted_since: trusted_since ?? at, composition_changed_at: null, due_at };
    case 'reinstated':
      return trusted_since === null ? {} : { trusted_since: at, due_at };
    case 'composition_changed':
      return { composition_changed_at: at };
    case 'attested_action':
      return { attested_at: at, due_at };
    case 'idle':
      return { due_at: null };
    default:
      return {};
  }
}

/**
 * Reports whether a note has no further effect: onboarding counts once, and a changed composition stays changed until
 * the next onboarding.
 */
function isSaidBefore({ trusted_since, composition_changed_at }: TrustStanding, { rule }: TrustNote): boolean {
  if (rule === 'onboarded') return trusted_since !== null;
  return rule === 'composition_changed' && composition_changed_at !== null;
}
