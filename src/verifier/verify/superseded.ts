import { CLAIMS, statusBy } from '../claims/claim.ts';
import { isEarlierRevision } from '../ledger/given-up.ts';
import { runOf, type StoredLedgerEntry } from '../ledger/ledger.ts';
import type { VerifiedOutcome } from '../records/outcome.ts';
import { isSameScope } from '../records/question.ts';
import { outcomeOf, type RunCheck } from './run.ts';
import type { VerifiedStream } from './stream.ts';

/**
 * Settles the recorded runs that a later run says it takes the place of. A revision launders nothing: of the earlier run
 * counts what is derived here. It counts no more where
 *
 * - the later run is of the same name and scope, stands after it in the ledger, and is verified here;
 * - nothing refutes the earlier run here: no claim, no object, no other run, no stream that vanished;
 * - each claim that the earlier run states as refuted is proved here.
 *
 * @param checks once all bundles were read, and compared with one another.
 */
export function settleSuperseded(checks: readonly RunCheck[], entries: readonly StoredLedgerEntry[]): RunCheck[] {
  const places = new Map(entries.map(({ entry }, place) => [runOf(entry)?.id, place]));
  const placeOf = (runId: string) => places.get(runId) ?? -1;
  return checks.map((check) => {
    const later = checks.find((other) => takesPlace(other, check) && placeOf(check.runId) < placeOf(other.runId));
    if (later === undefined) return check;
    const settled = { ...check, streams: check.streams.map(withoutRefutedStatement), supersededBy: later.runId };
    return { ...settled, outcome: outcomeOf(settled) };
  });
}

/** Outcomes that an archive comes to: of a run that another one counts for, only that it is refuted. */
export function countedOutcomes(checks: readonly RunCheck[]): VerifiedOutcome[] {
  return checks
    .filter(({ supersededBy, outcome }) => supersededBy === null || outcome === 'refuted')
    .map(({ outcome }) => outcome);
}

function takesPlace(later: RunCheck, { runId, record, isRecorded }: RunCheck): boolean {
  if (record === null || later.record === null || !isRecorded || !later.isRecorded) return false;
  const isVerified = later.outcome === 'verified' || later.outcome === 'collected';
  const isNamed = later.record.supersedes.includes(runId) && isEarlierRevision(runId, later.runId);
  return isVerified && isNamed && isSameScope(record, later.record);
}

/** The stream without what its run states against it, where all of that is proved here. */
function withoutRefutedStatement(stream: VerifiedStream): VerifiedStream {
  const { recorded_refutation: refutation, ...verdict } = stream.verdict;
  const isWithdrawn =
    refutation !== undefined &&
    refutation.length > 0 &&
    !stream.altered &&
    refutation.every(({ claim }) => verdict.claims[claim].state === 'proved') &&
    CLAIMS.every((name) => verdict.claims[name].state !== 'refuted');
  if (!isWithdrawn) return stream;
  const status = stream.whole ? statusBy(verdict.claims, stream.required) : 'incomplete';
  return { ...stream, verdict: { ...verdict, status } };
}
