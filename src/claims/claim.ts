import type { Finding, FindingLog } from '../chain/finding.ts';

/** The seven claims, in the order in which they build on one another. */
export const CLAIMS = ['order', 'content', 'seal', 'anchor', 'continuity', 'completeness', 'agreement'] as const;
export type ClaimName = (typeof CLAIMS)[number];

/** What must be proved for the word `verified` where nobody says otherwise. */
export const DEFAULT_REQUIRED: readonly ClaimName[] = ['order', 'content'];

/** As it is written into records. `reason` says why not, `basis` on what a proof rests. */
export interface Claim {
  state: 'proved' | 'refuted' | 'unproved';
  reason?: string | undefined;
  basis?: string | undefined;
  /** Of `anchor`: the newest entry that a sound token covers, and how many entries lie behind it. */
  anchored_through?: number | undefined;
  entries_after_last_anchor?: number | undefined;
  /** Of `content`: what of the entries their digests say nothing about, so that it could be changed unseen. */
  not_covered?: string[] | undefined;
  /** Of a `content` that is proved by a contract that the bundle brings: whose word it is what digests are made of. */
  by_contract?: string | undefined;
}

export type Claims = Record<ClaimName, Claim>;

/**
 * - `verified`: no claim refuted, every required one proved.
 * - `refuted`: at least one claim refuted.
 * - `incomplete`: not collected or read, or a required claim is unproved.
 * - `empty`: no entries, so nothing was checked.
 */
export type StreamStatus = 'verified' | 'refuted' | 'incomplete' | 'empty';

/** How many entries each action has: the most frequent by name, all others together. */
export interface ActionCounts {
  counts: [action: string, entries: number][];
  others: number;
}

/** What all checks of one stream come to. */
export interface Examination {
  status: StreamStatus;
  claims: Claims;
  /** In detail, as far as they were kept. */
  findings: Finding[];
  /** All of them, exactly. */
  findingsCount: number;
  /** See `Verdict`. */
  actions: ActionCounts | null;
}

export function proved(basis: string): Claim {
  return { state: 'proved', basis };
}

export function refuted(reason: string): Claim {
  return { state: 'refuted', reason };
}

export function unproved(reason: string): Claim {
  return { state: 'unproved', reason };
}

/** Why a claim is refuted: so many findings. */
export function deviations(findings: FindingLog, name: ClaimName): string {
  const count = findings.errors(name);
  return count === 1 ? '1 deviation' : `${count} deviations`;
}
