import { base64Text } from '../../core/bytes.ts';
import { agree, grouped, plural } from '../../core/plurals.ts';
import { accuracyOf, CLOCK_TOLERANCE, isOlderThan } from '../../core/timestamp/age.ts';
import type { Certificate } from '../../core/timestamp/certificate.ts';
import { leavesOpen, refutes } from '../../core/timestamp/token-finding.ts';
import type { TokenFacts, VerifyToken } from '../../core/timestamp/verify.ts';
import type { WalkResult, Watched } from '../chain/walk.ts';
import { FindingLog } from '../model/finding-log.ts';
import {
  type FindingPlace,
  type StreamFinding,
  type StreamFindingCode,
  toStreamFinding,
} from '../model/stream-finding.ts';
import type { Checkpoint } from '../reading/contract.ts';
import { type Claim, type Judgement, proved, refuted, unproved } from './claim.ts';
import { type OpenToken, toOpenFindings, withoutSoundToken } from './open-tokens.ts';
import type { Span } from './schemas.ts';

/** Inputs of the anchor claim. */

interface AnchorQuestion {
  walk: WalkResult;
  /** Checkpoints as the package states them. */
  checkpoints: readonly Checkpoint[];
  /** Trusted root certificates; null if none were pinned. */
  roots: readonly Certificate[] | null;
  /** Null if tokens cannot be checked: they prove and refute nothing then. */
  verifyToken: VerifyToken | null;
  /** Tokens with a later time prove nothing. */
  now: Date;
  /** Period for which the package was requested. */
  period: Span['period'];
  /** True if digests cover the digest before; see `EntryReader.bindsPredecessor`. */
  bindsPrevious: boolean;
}

/** Token that binds the computed digest of an entry to a time. */
interface SoundToken {
  sequence: number;
  says: TokenFacts;
}

type Offered = Checkpoint & { token: Uint8Array };

/** Maximum number of tokens judged, newest first: each costs signature checks, and the newest covers the others. */
const MAX_TOKENS = 1000;

/**
 * Judges whether a trusted authority states that a digest which *we* computed existed at a time. If digests cover the
 * digest before and all were computed, an entry's digest stands for all entries before it, so the newest such token
 * shows how far the stream is anchored. A token that fails a check refutes the claim, because it was offered as proof.
 * A token that cannot be checked here, or whose authority is not pinned, refutes nothing.
 */
export function judgeAnchor(asked: AnchorQuestion): Judgement {
  const { walk } = asked;
  const isOurs = ({ streamId }: Checkpoint) => streamId === null || streamId === walk.streamId;
  const question = { ...asked, checkpoints: asked.checkpoints.filter(isOurs) };
  const findings = new FindingLog();
  const others = asked.checkpoints.filter((checkpoint) => !isOurs(checkpoint));
  reportOthers(walk, others, findings);
  const told = findings.errors('anchor');
  for (const finding of findContradictions(question)) findings.add(finding);
  const contradictions = findings.errors('anchor') - told;
  const selected = selectTokens(walk, question.checkpoints);
  const judged = selected.covered.map((checkpoint) => judgeToken(question, checkpoint, findings));
  const sound = judged.flatMap((token) => token?.sound ?? []);
  const open = judged.flatMap((token) => token?.open ?? []);
  for (const { finding, tokens } of toOpenFindings(walk.streamId, open)) findings.add(finding, tokens);
  const claim =
    contradictions > 0
      ? refuted('the checkpoints contradict the entries')
      : claimOf(question, selected, sound, {
          faults: findings.errors('anchor') - told,
          others: others.length,
          open,
        });
  return { claim, findings };
}

/** @param counts numbers of failed checks and of checkpoints of other streams, and the tokens left open. */
function claimOf(
  question: AnchorQuestion,
  { offered, covered, left }: ReturnType<typeof selectTokens>,
  sound: readonly SoundToken[],
  { faults, others, open }: { faults: number; others: number; open: readonly OpenToken[] },
): Claim {
  const { walk, checkpoints, roots } = question;
  if (faults > 0)
    return refuted(faults === 1 ? 'a time-stamp token fails a check' : `time-stamp tokens fail ${faults} checks`);
  const unknown = covered.filter(({ sequence }) => isUnknown(walk.watched.get(sequence))).length;
  if (unknown > 0)
    return unproved(
      'digests-not-recomputed',
      `${grouped(unknown)} of ${plural(covered.length, 'token')} ${agree(unknown, 'is', 'are')} over digests that could not be recomputed here`,
    );
  if (covered.length === 0) return withoutToken(checkpoints.length, others, offered);
  if (roots === null)
    return unproved('no-root', 'no time-stamping authority is trusted here: pin its root to have its tokens checked');
  const [newest] = sound;
  if (newest === undefined) return withoutSoundToken(open);
  const claim = { ...describe(newest, sound.length, question), ...statedBy(sound) };
  if (left === 0) return claim;
  return {
    ...claim,
    basis: `${claim.basis}; ${plural(left, 'older token')} ${agree(left, 'was', 'were')} not judged`,
    tokens_not_judged: left,
  };
}

/**
 * Reports checkpoints of other streams. They say nothing about this stream, even if a token covers one of its digests.
 */
function reportOthers({ streamId }: WalkResult, others: readonly Checkpoint[], log: FindingLog): void {
  const [first] = others;
  if (first === undefined) return;
  const many = others.length === 1 ? 'a checkpoint' : `${others.length} checkpoints`;
  const message = `the package holds ${many} of another stream, the first at entry ${first.sequence}; not counted as its own`;
  const values = { expected: streamId, actual: first.streamId ?? '' };
  log.add(toStreamFinding('anchor/other-stream', streamId, message, values), others.length);
}

/** Finds checkpoints that contradict entries, with or without a token. */
function findContradictions({ walk, checkpoints, period }: AnchorQuestion): StreamFinding[] {
  const last = walk.head?.sequence ?? null;
  const found = checkpoints.flatMap(({ sequence, digest: expected }) => {
    const actual = walk.watched.get(sequence)?.stated;
    if (actual === undefined || actual === expected) return [];
    const message = `the checkpoint of entry ${sequence} states another digest`;
    const values = { sequence, expected, actual };
    return [toStreamFinding('anchor/imprint-mismatch', walk.streamId, message, values)];
  });
  // Checkpoints of a period that has ended may lie after its end.
  const highest = checkpoints.reduce((most, { sequence }) => Math.max(most, sequence), -1);
  if (period.to !== null || last === null || highest <= last) return found;
  const message = `there is a checkpoint of entry ${highest}, and the package ends at entry ${last}`;
  const values = { from: last + 1, to: highest };
  return [...found, toStreamFinding('anchor/missing-entry', walk.streamId, message, values)];
}

/** Returns the newest tokens of entries in the package, each once, and the number of tokens left out. */
function selectTokens(walk: WalkResult, checkpoints: readonly Checkpoint[]) {
  const offered = checkpoints.filter((checkpoint): checkpoint is Offered => checkpoint.token !== null);
  const once = new Map<string, Offered>();
  for (const checkpoint of offered)
    if (walk.watched.has(checkpoint.sequence))
      once.set(`${checkpoint.sequence} ${base64Text(checkpoint.token)}`, checkpoint);
  const newest = [...once.values()].sort((a, b) => b.sequence - a.sequence);
  return {
    offered: offered.length,
    covered: newest.slice(0, MAX_TOKENS),
    left: Math.max(0, newest.length - MAX_TOKENS),
  };
}

/** Reports whether the entry's digest cannot be computed here. */
function isUnknown(entry: Watched | undefined): boolean {
  return entry !== undefined && entry.computed === null && !entry.ambiguous;
}

function judgeToken(
  { walk, roots, verifyToken, now }: AnchorQuestion,
  { sequence, token }: Offered,
  log: FindingLog,
): { sound: SoundToken | null; open: OpenToken | null } | null {
  const entry = walk.watched.get(sequence);
  if (entry === undefined || isUnknown(entry)) return null;
  const report = (code: StreamFindingCode, message: string, values: Pick<FindingPlace, 'expected' | 'actual'> = {}) =>
    log.add(
      toStreamFinding(code, walk.streamId, `the token for entry ${sequence}: ${message}`, { sequence, ...values }),
    );
  // An entry whose bytes can be read in two ways has no digest that a token could bind.
  if (entry.computed === null) {
    report('anchor/imprint-mismatch', 'the entry has no digest of its own');
    return null;
  }
  if (verifyToken === null) return null;
  const { faults, valid, says } = verifyToken(token, { digest: entry.computed, roots: roots ?? [], now });
  // Without roots, nothing that a token states is trusted; a token over another digest is wrong without trust. (A run's
  // own stamp was judged in full before it was stored.)
  const relevant = faults.filter(({ code }) => roots !== null || code === 'anchor/imprint-mismatch');
  for (const { code, message, expected, actual } of relevant.filter((fault) => !leavesOpen(fault)))
    report(code, message, { expected, actual });
  const [open] = relevant.some(refutes) ? [] : relevant.filter(leavesOpen);
  if (open !== undefined) return { sound: null, open: { sequence, fault: open } };
  if (says === null || !valid || roots === null) return null;
  if (isOlderThan(says, new Date(entry.timestamp), CLOCK_TOLERANCE.service)) {
    report('anchor/before-entry', `it is of ${says.genTime.toISOString()}, older than the entry it covers`, {
      expected: `after ${entry.timestamp}`,
      actual: says.genTime.toISOString(),
    });
    return null;
  }
  return { sound: { sequence, says }, open: null };
}

function describe({ sequence, says }: SoundToken, tokens: number, { walk, bindsPrevious }: AnchorQuestion): Claim {
  const { genTime, authority, policy, accuracy } = says;
  const within = accuracy === null ? 'accuracy not stated' : `within ${accuracyOf(says) / 1000} s`;
  const others = tokens > 1 ? `; ${tokens} tokens in all` : '';
  const basis = `entry ${sequence} existed at ${genTime.toISOString()} (${within}) says ${authority}, policy ${policy}${others}`;
  if (!bindsPrevious)
    return proved(`${basis}; each covers its entry alone, because digests do not cover the one before`);
  if (walk.contentComputed < walk.entries)
    return proved(`${basis}; each covers its entry alone, because not all digests could be recomputed`);
  const after = (walk.head?.sequence ?? sequence) - sequence;
  return { ...proved(basis), anchored_through: sequence, entries_after_last_anchor: after };
}

/** Returns the oldest and the newest time that the tokens state, and their authorities. */
function statedBy(sound: readonly SoundToken[]) {
  const times = sound.map(({ says }) => says.genTime.toISOString()).sort();
  return {
    anchored_from: times[0],
    anchored_to: times.at(-1),
    authorities: [...new Set(sound.map(({ says }) => says.authority ?? 'an authority without a name'))].sort(),
  };
}

function withoutToken(checkpoints: number, others: number, offered: number): Claim {
  if (checkpoints === 0)
    return others === 0
      ? unproved('no-checkpoint', 'the package has no checkpoint')
      : unproved('no-checkpoint', 'every checkpoint in the package is of another stream');
  if (offered === 0) return unproved('no-token', 'no checkpoint has a token yet');
  return unproved('no-token', 'the checkpoints are of entries that are not in this package');
}
