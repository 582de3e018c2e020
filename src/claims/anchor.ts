import { type FindingCode, type FindingLog, toFinding } from '../chain/finding.ts';
import type { WalkResult } from '../chain/walk.ts';
import type { Checkpoint } from '../contract/contract.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import { type TokenFacts, verifyToken } from '../timestamp/verify.ts';
import { type Claim, proved, refuted, unproved } from './claim.ts';

export interface AnchorQuestion {
  walk: WalkResult;
  /** As the package states them. */
  checkpoints: readonly Checkpoint[];
  /** The only certificates that are trusted; null when none were pinned. */
  roots: readonly Certificate[] | null;
  /** Decides nothing but the warning that a certificate has expired since. */
  now: Date;
}

/** A token that binds the digest of one entry, as we computed it, to a time. */
interface SoundToken {
  sequence: number;
  says: TokenFacts;
}

/**
 * An entry may be dated a little after the token that covers it: the clocks of service and authority differ, and
 * authorities state whole seconds. Milliseconds.
 */
const CLOCK_TOLERANCE = 5000;

/** The newest tokens are judged, up to this many: each costs signatures, and the newest covers what the others do. */
const MAX_TOKENS = 1000;

/**
 * Does an authority that we trust say that a digest which *we* computed existed at a time? The digest of an entry
 * stands for all entries before it, so the newest of such tokens tells how far the stream is anchored. A token that
 * fails any check refutes the claim: somebody offered it as proof.
 */
export function judgeAnchor({ walk, checkpoints, roots, now }: AnchorQuestion, log: FindingLog): Claim {
  const before = log.errors('anchor');
  const offered = checkpoints.filter((checkpoint) => checkpoint.token !== null);
  const covered = offered.filter(({ sequence }) => walk.watched.has(sequence)).slice(-MAX_TOKENS);
  const sound: SoundToken[] = [];
  for (const checkpoint of covered) {
    const token = judgeToken({ walk, checkpoint, roots, now }, log);
    if (token !== null) sound.push(token);
  }
  const faults = log.errors('anchor') - before;
  if (faults > 0)
    return refuted(faults === 1 ? 'a time-stamp token fails a check' : `time-stamp tokens fail ${faults} checks`);
  const newest = sound.toSorted((a, b) => b.sequence - a.sequence)[0];
  if (newest === undefined) return unproved(whyNone(checkpoints.length, offered.length, covered.length));
  if (roots === null)
    return unproved('no time-stamping authority is trusted here: pin its root to have its tokens checked');
  const after = (walk.head?.sequence ?? newest.sequence) - newest.sequence;
  return {
    ...proved(describe(newest, sound.length)),
    anchored_through: newest.sequence,
    entries_after_last_anchor: after,
  };
}

function judgeToken(
  { walk, checkpoint, roots, now }: Omit<AnchorQuestion, 'checkpoints'> & { checkpoint: Checkpoint },
  log: FindingLog,
): SoundToken | null {
  const { sequence, token } = checkpoint;
  const entry = walk.watched.get(sequence);
  if (token === null || entry === undefined) return null;
  const report = (code: FindingCode, message: string, values: { expected?: string; actual?: string } = {}) =>
    log.add(toFinding(code, walk.streamId, `the token for entry ${sequence}: ${message}`, { sequence, ...values }));
  // An entry whose bytes can be read in two ways has no digest that a token could bind.
  if (entry.computed === null) {
    report('anchor/imprint-mismatch', 'the entry has no digest of its own');
    return null;
  }
  const { faults, valid, says } = verifyToken(token, { digest: entry.computed, roots: roots ?? [], now });
  const relevant = faults.filter(({ code }) => roots !== null || code !== 'anchor/untrusted');
  for (const { code, message, expected, actual } of relevant)
    report(code, message, {
      ...(expected === undefined ? {} : { expected }),
      ...(actual === undefined ? {} : { actual }),
    });
  if (says === null || (!valid && relevant.length > 0)) return null;
  const latest = says.genTime.getTime() + accuracyOf(says) + CLOCK_TOLERANCE;
  if (latest < Date.parse(entry.timestamp)) {
    report('anchor/before-entry', `it is of ${says.genTime.toISOString()}, older than the entry it covers`, {
      expected: `after ${entry.timestamp}`,
      actual: says.genTime.toISOString(),
    });
    return null;
  }
  return { sequence, says };
}

function accuracyOf({ accuracy }: TokenFacts): number {
  if (accuracy === null) return 0;
  return accuracy.seconds * 1000 + accuracy.millis + accuracy.micros / 1000;
}

function describe({ sequence, says }: SoundToken, tokens: number): string {
  const { genTime, authority, policy, accuracy } = says;
  const within = accuracy === null ? 'accuracy not stated' : `within ${accuracyOf(says) / 1000} s`;
  const others = tokens > 1 ? `; ${tokens} tokens in all` : '';
  return `entry ${sequence} existed at ${genTime.toISOString()} (${within}) says ${authority}, policy ${policy}${others}`;
}

function whyNone(checkpoints: number, offered: number, covered: number): string {
  if (checkpoints === 0) return 'the package has no checkpoint';
  if (offered === 0) return 'no checkpoint has a token yet';
  if (covered === 0) return 'the checkpoints are of entries that are not in this package';
  return 'no token could be checked';
}
