import type { AlertSeverity } from '../alert-enums.ts';
import { DEPTHS, type Depth, type TrapStatus } from './enums.ts';
import type { TrapTables } from './tables.ts';
import type { TrapUse } from './use.ts';

/** Maximum gap between uses of one detection. */
export const GROUP_GAP_MS = 10 * 60_000;
/** Maximum length of a detection; a later use starts another detection, with its own alert. */
export const LONGEST_DETECTION_MS = 24 * 60 * 60_000;

/** Tolerance for matching uses: IAM reports minutes, and CloudTrail seconds, of the same use. */
export const SAME_USE_MS = 15 * 60_000;

/** Age at which a proof expires, because the channel may have failed since. */
const PROOF_LASTS_MS = 30 * 24 * 60 * 60_000;

/** Returns the time from which on proofs still count. */
export function proofSince(now: Date): string {
  return new Date(now.getTime() - PROOF_LASTS_MS).toISOString();
}

const BY_DEPTH: Record<Depth, AlertSeverity> = { exposed: 'low', read: 'medium', validated: 'high', used: 'critical' };

/** Rates a use. A client that knows the credential's name but not its secret can do less. */
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

/** Returns the status of a trap. An ended trap still detects uses. */
export function statusOf(trap: TrapTimes, now: Date): TrapStatus {
  if (trap.revoked_at !== null) return 'revoked';
  if (trap.rotated_at !== null) return 'rotated';
  if (trap.expires_at !== null && trap.expires_at <= now.toISOString()) return 'expired';
  if (trap.triggered_at !== null) return 'triggered';
  return trap.confirmed_at === null ? 'active' : 'planted';
}

/** Reports whether a use belongs to a detection that lasted from `first` to `last`. */
export function belongsTo(eventTime: string, { first, last }: { first: string; last: string }): boolean {
  const [at, from, to] = [eventTime, first, last].map((text) => Date.parse(text)) as [number, number, number];
  if (at < from - GROUP_GAP_MS || at > to + GROUP_GAP_MS) return false;
  return Math.max(at, to) - Math.min(at, from) <= LONGEST_DETECTION_MS;
}
