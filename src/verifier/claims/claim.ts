import { plural } from '../../core/plurals.ts';
import type { Rows } from '../../core/rows/rows.ts';
import type { FindingLog } from '../model/finding-log.ts';
import type { StreamFinding } from '../model/stream-finding.ts';

/** The seven claims, in the order in which they build on one another. */
export const CLAIMS = ['order', 'content', 'seal', 'anchor', 'continuity', 'completeness', 'agreement'] as const;
export type ClaimName = (typeof CLAIMS)[number];

/** The claims that must be proved for the word `verified` unless others are named. */
export const DEFAULT_REQUIRED: readonly ClaimName[] = ['order', 'content'];

/** Inputs of the reader that a claim can lack: the key of seals, or of digests; the root of a time-stamping authority. */
export const LACKED_INPUTS = ['seal_key', 'timestamp_root'] as const;
export type LackedInput = (typeof LACKED_INPUTS)[number];

/** As it is written into records. `reason` says why not, `basis` on what a proof rests. */
// Over ten members: it is a claim in records and documents.
export interface Claim {
  state: 'proved' | 'refuted' | 'unproved';
  reason?: string | undefined;
  /** The reader's own input without which it stays unproved. */
  lacks?: LackedInput | undefined;
  basis?: string | undefined;
  /** For `anchor`: the newest entry that a sound token covers, and how many entries lie after it. */
  anchored_through?: number | undefined;
  entries_after_last_anchor?: number | undefined;
  /** For a proved `anchor`: the oldest and the newest time that its tokens state (RFC 3339), and by whose word. */
  anchored_from?: string | undefined;
  anchored_to?: string | undefined;
  authorities?: string[] | undefined;
  /** For `anchor`: the number of tokens that were left out, where there are more than are judged. */
  tokens_not_judged?: number | undefined;
  /**
   * For `content`: members of the entries about which their digests say nothing, so that they could be changed unseen.
   */
  not_covered?: string[] | undefined;
  /** For a `content` that is proved by a contract that the bundle brings: whose word it is what digests are made of. */
  by_contract?: string | undefined;
}

export type Claims = Record<ClaimName, Claim>;

/**
 * - `verified`: no claim refuted, every required one proved, and `DEFAULT_REQUIRED` among those that are.
 * - `collected`: the same, but that of `DEFAULT_REQUIRED` something is unproved, which nobody required.
 * - `refuted`: at least one claim refuted.
 * - `incomplete`: not collected or read, or a required claim is unproved.
 * - `empty`: no entries, so nothing was checked.
 */
export const STATUSES = ['verified', 'collected', 'refuted', 'incomplete', 'empty'] as const;
export type StreamStatus = (typeof STATUSES)[number];

/**
 * A claim as a verification reports it. `recorded` is the state of one that was only read back: the bundle was not
 * opened, or what the claim rests on is not at hand, or nobody vouches for it. It is never written into records.
 */
export interface ReportedClaim extends Omit<Claim, 'state'> {
  state: Claim['state'] | 'recorded';
  /** As what it was recorded, where it is not derived here. */
  recorded?: Claim['state'] | undefined;
  /**
   * The record is that of a run which a key of the reader vouches for, and the claim takes a secret that the reader
   * lacks.
   */
  vouched_for?: true | undefined;
}

export type ReportedClaims = Record<ClaimName, ReportedClaim>;

/** Numbers of entries by action: the most frequent by name, all others together. */
export interface ActionCounts {
  counts: [action: string, entries: number][];
  others: number;
}

/** The result of all checks of one stream. */
export interface Examination {
  status: StreamStatus;
  claims: Claims;
  /** In detail, as far as they were kept. */
  findings: StreamFinding[];
  /** All of them, exactly. */
  findingsCount: number;
  /** See `Verdict`. */
  actions: ActionCounts | null;
}

/** Returns the claims that any of several lists requires, in the order of the claims. */
function strictest(...lists: (readonly ClaimName[])[]): ClaimName[] {
  return CLAIMS.filter((name) => lists.some((list) => list.includes(name)));
}

/**
 * Claims that only the holder of a secret can prove: a seal is an HMAC, and its key can make seals as well as check
 * them.
 */
export const SECRET_CLAIMS = ['seal'] as const satisfies readonly ClaimName[];

function takesSecret(name: ClaimName): boolean {
  return SECRET_CLAIMS.some((one) => one === name);
}

/**
 * The claims that must be proved.
 * @param reader what the reader requires, and which claims of `own` not.
 * @param own what a run or a bundle requires by itself.
 */
export function requiredOf(
  { required = DEFAULT_REQUIRED, without = [] }: { required?: readonly ClaimName[]; without?: readonly ClaimName[] },
  own: readonly ClaimName[],
): ClaimName[] {
  return strictest(
    required,
    own.filter((name) => !without.includes(name)),
  );
}

/**
 * The claims of a record that a trusted signature vouches for may stay recorded, unless the reader requires them by
 * name.
 */
export function withoutSecrets(required: readonly ClaimName[], reader: readonly ClaimName[]): ClaimName[] {
  return required.filter((name) => reader.includes(name) || !takesSecret(name));
}

/** Returns the status of a stream that was read, has entries, and of which no claim is refuted. */
export function statusBy(claims: ReportedClaims, required: readonly ClaimName[]): StreamStatus {
  const areProved = (names: readonly ClaimName[]) => names.every((name) => claims[name].state === 'proved');
  if (!areProved(required)) return 'incomplete';
  return areProved(DEFAULT_REQUIRED) ? 'verified' : 'collected';
}

/** The number of streams of which a claim is neither proved nor refuted. */
interface NotProved {
  name: ClaimName;
  streams: number;
  /** The number of streams that have entries. */
  of: number;
}

/** Lists the refuted claims of some streams, in their order, with the number of streams. */
export function refutedIn(all: Rows<{ claims: ReportedClaims }>): Omit<NotProved, 'of'>[] {
  const counts = countClaims(all, ({ state }) => state === 'refuted');
  return CLAIMS.map((name) => ({ name, streams: counts[name] })).filter(({ streams }) => streams > 0);
}

/**
 * Returns the claims that the word over some streams leaves open, in their order: neither proved nor refuted. Streams
 * without entries.
 */
export function notProvedIn(all: Rows<{ entries: number; claims: ReportedClaims }>): NotProved[] {
  const streams = all.filter(({ entries }) => entries > 0);
  const counts = countClaims(streams, isOpen);
  return CLAIMS.map((name) => ({ name, streams: counts[name], of: streams.length })).filter((open) => open.streams > 0);
}

/** Number of streams of which each claim is such. */
function countClaims(
  all: Iterable<{ claims: ReportedClaims }>,
  isSuch: (claim: ReportedClaims[ClaimName]) => boolean,
): Record<ClaimName, number> {
  const counts = Object.fromEntries(CLAIMS.map((name) => [name, 0])) as Record<ClaimName, number>;
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

/** @param lacks the reader's input that would let it be judged. */
export function unproved(reason: string, lacks?: LackedInput): Claim {
  return { state: 'unproved', reason, ...(lacks === undefined ? {} : { lacks }) };
}

/** A judge's answer: one claim, and what it found besides what the walk over the entries did. */
export interface Judgement {
  claim: Claim;
  findings: FindingLog;
}

/** The reason of a refuted claim: a number of findings. */
export function deviations(count: number): string {
  return plural(count, 'deviation');
}
