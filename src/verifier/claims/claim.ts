import { plural } from '../../core/plurals.ts';
import type { Rows } from '../../core/rows/rows.ts';
import type { FindingLog } from '../model/finding-log.ts';
import type { StreamFinding } from '../model/stream-finding.ts';

/** Seven claims, in the order in which they build on one another. */
export const CLAIMS = ['order', 'content', 'seal', 'anchor', 'continuity', 'completeness', 'agreement'] as const;
export type ClaimName = (typeof CLAIMS)[number];

/** Claims that must be proved for the status `verified`, unless the caller names others. */
export const DEFAULT_REQUIRED: readonly ClaimName[] = ['order', 'content'];

/** Reasons why a package was not compared with the service's listing of its entries. */
export const NOT_LISTED_CODES = [
  /** No listing beside the package. */
  'no-listing',
  'listing-off',
  'listing-not-requested',
  'listing-not-in-contract',
  'listing-too-long',
  'listing-failed',
  /** Package of the whole account; for agreement, too. */
  'account-package',
] as const;

/** Reasons why a claim is neither proved nor refuted. */
export const OPEN_CODES = [
  // Any claim: the package has no entries, or could not be read in full.
  'no-entries',
  'not-read',
  // content
  'no-recipe',
  'inexact-numbers',
  'not-covered',
  // content and seal: a key of the reader would allow a judgment.
  'key-not-given',
  // seal
  'no-seals',
  'entries-without-seal',
  // anchor: a root certificate of the reader would allow a judgment for the first two.
  'no-root',
  'root-not-pinned',
  'digests-not-recomputed',
  'no-checkpoint',
  'no-token',
  'token-not-checked',
  'future-token',
  // continuity
  'past-unknown',
  'period-grew',
  'not-compared',
  'before-earlier-runs',
  'unknown-start',
  // completeness: the package was not compared with a listing.
  ...NOT_LISTED_CODES,
  // completeness
  'entries-undecided',
  'nothing-stated',
  'record-not-comparable',
  'record-too-old',
  // agreement
  'bundle-altered',
  'form-not-read',
  'forms-doubtful',
] as const;
export type OpenCode = (typeof OPEN_CODES)[number];

/** Claim as written into records. `reason` says why it is not proved, `basis` what a proof rests on. */
// Over ten members: a claim as written into records and documents.
export interface Claim {
  state: 'proved' | 'refuted' | 'unproved';
  /** Code of the reason; for an unproved claim only. */
  code?: OpenCode | undefined;
  reason?: string | undefined;
  basis?: string | undefined;
  /** Newest entry that a sound token covers, and the number of entries after it; for `anchor` only. */
  anchored_through?: number | undefined;
  entries_after_last_anchor?: number | undefined;
  /** Oldest and newest time that the tokens state (RFC 3339), and the authorities; for a proved `anchor` only. */
  anchored_from?: string | undefined;
  anchored_to?: string | undefined;
  authorities?: string[] | undefined;
  /** Number of tokens beyond the maximum, which were not judged; for `anchor` only. */
  tokens_not_judged?: number | undefined;
  /** Parts of entries that no digest covers, so that they could change unnoticed; for `content` only. */
  not_covered?: string[] | undefined;
  /** Source of the contract that defines the digests; for a `content` proved by a contract in the bundle. */
  by_contract?: string | undefined;
}

export type Claims = Record<ClaimName, Claim>;

/**
 * Statuses of a stream.
 * - `verified`: no claim is refuted, and every required one and all of `DEFAULT_REQUIRED` are proved.
 * - `collected`: no claim is refuted and every required one is proved, but one of `DEFAULT_REQUIRED` is not.
 * - `refuted`: at least one claim is refuted.
 * - `incomplete`: the stream was not collected or read in full, or a required claim is unproved.
 * - `empty`: there are no entries, so nothing was checked.
 */
export const STATUSES = ['verified', 'collected', 'refuted', 'incomplete', 'empty'] as const;
export type StreamStatus = (typeof STATUSES)[number];

/**
 * Claim as a verification reports it. State `recorded`: the claim was only read back, because the bundle was not
 * opened, its basis is not at hand, or no one vouches for it. `recorded` is never written into records.
 */
export interface ReportedClaim extends Omit<Claim, 'state'> {
  state: Claim['state'] | 'recorded';
  /** Recorded state of a claim that is not derived here. */
  recorded?: Claim['state'] | undefined;
  /**
   * True if the record belongs to a run that a key of the reader vouches for, and the claim takes a secret that the
   * reader lacks.
   */
  vouched_for?: true | undefined;
}

export type ReportedClaims = Record<ClaimName, ReportedClaim>;

/** Numbers of entries by action: the most frequent by name, the others together. */
export interface ActionCounts {
  counts: [action: string, entries: number][];
  others: number;
}

/** Result of all checks of one stream. */
export interface Examination {
  status: StreamStatus;
  claims: Claims;
  /** Findings in detail, as far as they were kept. */
  findings: StreamFinding[];
  /** Exact number of findings. */
  findingsCount: number;
  /** See `Verdict`. */
  actions: ActionCounts | null;
}

/**
 * Claims that only the holder of a secret can prove: a seal is an HMAC, and a key that checks seals can also make them.
 */
export const SECRET_CLAIMS = ['seal'] as const satisfies readonly ClaimName[];

export function takesSecret(name: ClaimName): boolean {
  return SECRET_CLAIMS.some((one) => one === name);
}

/**
 * Returns the claims that must be proved, in the order of the claims.
 * @param reader claims that the reader requires, and claims of `own` that the reader waives.
 * @param own claims that a run or a bundle requires by itself.
 */
export function requiredOf(
  { required = DEFAULT_REQUIRED, without = [] }: { required?: readonly ClaimName[]; without?: readonly ClaimName[] },
  own: readonly ClaimName[],
): ClaimName[] {
  return CLAIMS.filter((name) => required.includes(name) || (own.includes(name) && !without.includes(name)));
}

/**
 * Returns the required claims of a record that a trusted signature vouches for. Claims that take a secret may stay
 * recorded, unless the reader requires them by name.
 */
export function withoutSecrets(required: readonly ClaimName[], reader: readonly ClaimName[]): ClaimName[] {
  return required.filter((name) => reader.includes(name) || !takesSecret(name));
}

/** Returns the status of a stream that was read, has entries and has no refuted claim. */
export function statusBy(claims: ReportedClaims, required: readonly ClaimName[]): StreamStatus {
  const areProved = (names: readonly ClaimName[]) => names.every((name) => claims[name].state === 'proved');
  if (!areProved(required)) return 'incomplete';
  return areProved(DEFAULT_REQUIRED) ? 'verified' : 'collected';
}

/** Number of streams for which a claim is neither proved nor refuted. */
interface NotProved {
  name: ClaimName;
  streams: number;
  /** Number of streams that have entries. */
  of: number;
}

/** Lists the claims that are refuted in some streams, in order, with the number of those streams. */
export function refutedIn(all: Rows<{ claims: ReportedClaims }>): Omit<NotProved, 'of'>[] {
  const counts = countClaims(all, ({ state }) => state === 'refuted');
  return CLAIMS.map((name) => ({ name, streams: counts[name] })).filter(({ streams }) => streams > 0);
}

/**
 * Lists the claims that are neither proved nor refuted in some streams, in order. Leaves out streams without entries.
 */
export function notProvedIn(all: Rows<{ entries: number; claims: ReportedClaims }>): NotProved[] {
  const streams = all.filter(({ entries }) => entries > 0);
  const counts = countClaims(streams, isOpen);
  return CLAIMS.map((name) => ({ name, streams: counts[name], of: streams.length })).filter((open) => open.streams > 0);
}

/** Returns a value for each claim. */
export function mapClaims<T>(of: (name: ClaimName) => T): Record<ClaimName, T> {
  return Object.fromEntries(CLAIMS.map((name) => [name, of(name)])) as Record<ClaimName, T>;
}

/** Counts the streams for which `isSuch` holds, by claim. */
function countClaims(
  all: Iterable<{ claims: ReportedClaims }>,
  isSuch: (claim: ReportedClaims[ClaimName]) => boolean,
): Record<ClaimName, number> {
  const counts = mapClaims(() => 0);
  for (const { claims } of all) for (const name of CLAIMS) if (isSuch(claims[name])) counts[name]++;
  return counts;
}

function isOpen({ state }: ReportedClaims[ClaimName]): boolean {
  return state !== 'proved' && state !== 'refuted';
}

export function proved(basis: string): Claim {
  return { state: 'proved', basis };
}

export function refuted(reason: string): Claim {
  return { state: 'refuted', reason };
}

export function unproved(code: OpenCode, reason: string): Claim {
  return { state: 'unproved', code, reason };
}

/** Answer of a judge: one claim, and its findings in addition to those of the walk. */
export interface Judgement {
  claim: Claim;
  findings: FindingLog;
}

/** Reason of a refuted claim: its number of findings. */
export function deviations(count: number): string {
  return plural(count, 'deviation');
}
