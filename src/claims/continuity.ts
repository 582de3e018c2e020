import { type FindingLog, toFinding } from '../chain/finding.ts';
import type { Head, WalkResult } from '../chain/walk.ts';
import { type Claim, proved, refuted, unproved } from './claim.ts';

/** The last good head of a stream in the ledger of earlier exports, and the run that recorded it. */
export interface EarlierHead extends Head {
  runId: string;
}

export interface ContinuityQuestion {
  walk: WalkResult;
  earlier: EarlierHead | null;
  /** Whether the package was to reach to the newest entry, so that one which is missing at its end is gone. */
  reachesNow: boolean;
  /** Whether the package was to begin with the first entry, so that one without entries is a stream without entries. */
  fromStart: boolean;
  /** The head's sequence number as the service's list of streams states it, before the package was made. */
  statedHead: number | null;
  /** The acceptance of the stream's restart, as a sentence, when the ledger has one. */
  restart: string | null;
}

/**
 * Does this package tell the same history as the earlier exports? It does if it contains the earlier head or starts
 * right behind it; without an earlier head, if it starts at the beginning of the stream. The walk must have watched
 * the number of the earlier head.
 */
export function judgeContinuity(question: ContinuityQuestion, log: FindingLog): Claim {
  const { walk, earlier, reachesNow, statedHead } = question;
  if (walk.first === null || walk.head === null) return judgeNothing(question, log);
  if (earlier === null) return judgeStart(question, walk.first, log);
  const { sequence, digest, runId } = earlier;
  const seen = walk.watched.get(sequence);
  if (seen !== undefined) {
    if (seen.stated === digest) return proved(`contains entry ${sequence}, the head of run ${runId}, unchanged`);
    return rewritten(walk, earlier, seen.stated, log);
  }
  if (walk.first.sequence === sequence + 1) {
    if (walk.first.previous === digest) return proved(`follows entry ${sequence}, the head of run ${runId}`);
    return rewritten(walk, earlier, walk.first.previous, log);
  }
  if (walk.head.sequence < sequence) {
    if (statedHead !== null && statedHead < sequence) return truncated(walk, earlier, statedHead, log);
    if (!reachesNow) return unproved(`lies before entry ${sequence}, the head of run ${runId}`);
    return truncated(walk, earlier, walk.head.sequence, log);
  }
  if (walk.first.sequence <= sequence)
    return unproved(`entry ${sequence}, the head of run ${runId}, is not among the entries`);
  return unknownStart(walk, walk.first.sequence, `entry ${sequence} (run ${runId}) is the last known before it`, log);
}

function judgeNothing(
  { walk, earlier, reachesNow, fromStart, statedHead }: ContinuityQuestion,
  log: FindingLog,
): Claim {
  if (earlier !== null && statedHead !== null && statedHead < earlier.sequence && walk.entries === 0)
    return truncated(walk, earlier, statedHead, log);
  if (earlier === null || !reachesNow || !fromStart || walk.entries > 0) return unproved('there are no entries');
  return truncated(walk, earlier, 0, log);
}

function truncated(walk: WalkResult, { sequence, runId }: EarlierHead, end: number, log: FindingLog): Claim {
  const now = end === 0 ? 'has no entries' : `ends at entry ${end}`;
  const message = `the stream now ${now}; run ${runId} exported it up to entry ${sequence}`;
  log.add(toFinding('continuity/truncated', walk.streamId, message, { from: end + 1, to: sequence }));
  return refuted(message);
}

function judgeStart({ walk, restart }: ContinuityQuestion, first: { sequence: number }, log: FindingLog): Claim {
  if (walk.startsAtGenesis)
    return proved(`starts at the first entry of the stream; ${restart ?? 'no earlier export is known'}`);
  if (walk.startsAtFirst) return unproved(`entry ${first.sequence} names a predecessor`);
  return unknownStart(walk, first.sequence, 'no earlier export is known', log);
}

function unknownStart(walk: WalkResult, sequence: number, why: string, log: FindingLog): Claim {
  const message = `the package starts at entry ${sequence}, and ${why}`;
  log.add(toFinding('continuity/unknown-start', walk.streamId, message, { sequence }));
  return unproved(message);
}

function rewritten(walk: WalkResult, earlier: EarlierHead, actual: string, log: FindingLog): Claim {
  const message = `entry ${earlier.sequence} is not the one that run ${earlier.runId} exported`;
  log.add(
    toFinding('continuity/rewritten', walk.streamId, message, {
      sequence: earlier.sequence,
      expected: earlier.digest,
      actual,
    }),
  );
  return refuted(message);
}
