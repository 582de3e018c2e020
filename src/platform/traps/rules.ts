import type { AlertSeverity } from '../alert-enums.ts';
import { DEPTHS, type Depth, type TrapStatus } from './enums.ts';
import type { TrapTables } from './tables.ts';
import type { TrapUse } from './use.ts';

/** Uses that are no further apart belong to one detection. */
export const GROUP_GAP_MS = 10 * 60_000;
/** The longest detection: a longer one ends, and another begins and sends an alert of its own. */
export const LONGEST_DETECTION_MS = 24 * 60 * 60_000;

/** IAM tells minutes, and CloudTrail tells seconds, of the same use. */
export const SAME_USE_MS = 15 * 60_000;

/** A channel that was proved longer ago may have died since. */
const PROOF_LASTS_MS = 30 * 24 * 60 * 60_000;

/** From when on a proof still counts. */
export function proofSince(now: Date): string {
  return new Date(now.getTime() - PROOF_LASTS_MS).toISOString();
}

const BY_DEPTH: Record<Depth, AlertSeverity> = { exposed: 'low', read: 'medium', validated: 'high', used: 'critical' };

/** Rates a use. Somebody who knows the credential's name but not its secret can do less. */
export function severityOf({ depth, authVerified }: Pick<TrapUse, 'depth' | 'authVerified'>): AlertSeverity {
  return authVerified === false && (depth === 'validated' || depth === 'used') ? 'medium' : BY_DEPTH[depth];
}

export function isDeeper(depth: Depth, than: Depth): boolean {
  return DEPTHS.indexOf(depth) > DEPTHS.indexOf(than);
}

type TrapTimes = Pick<
  TrapTables['traps'],
  'confirmed_at' | 'triggered_at' | 'rotated_at' | 'revoked_at' | 'expires_at' | 'planted_at'
>;

/** A trap that has ended is still one: its uses are detections too. */
export function statusOf(trap: TrapTimes, now: Date): TrapStatus {
  if (trap.revoked_at !== null) return 'revoked';
  if (trap.rotated_at !== null) return 'rotated';
  if (trap.expires_at !== null && trap.expires_at <= now.toISOString()) return 'expired';
  if (trap.triggered_at !== null) return 'triggered';
  return trap.confirmed_at === null ? 'active' : 'planted';
}

/** True if a use belongs to what was seen from `first` to `last`. */
export function belongsTo(eventTime: string, { first, last }: { first: string; last: string }): boolean {
  const [at, from, to] = [eventTime, first, last].map((text) => Date.parse(text)) as [number, number, number];
  if (at < from - GROUP_GAP_MS || at > to + GROUP_GAP_MS) return false;
  return Math.max(at, to) - Math.min(at, from) <= LONGEST_DETECTION_MS;
}
