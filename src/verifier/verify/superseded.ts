import { CLAIMS, statusBy } from '../claims/claim.ts';
import { isEarlierRevision } from '../ledger/given-up.ts';
import { runOf, type StoredLedgerEntry } from '../ledger/ledger.ts';
import type { VerifiedOutcome } from '../records/outcome.ts';
import { isSameScope } from '../records/question.ts';
import { outcomeOf, type RunCheck } from './run.ts';
import type { VerifiedStream } from './stream.ts';

/**
 * Settles recorded runs that a later run replaces. A revision launders nothing: for the earlier run, the results
 * derived here count. The earlier run no longer counts if
 *
 * - the later run has the same name and scope, comes later in the ledger, and is verified here;
 * - nothing refutes the earlier run here: no claim, no object, no other run, no vanished stream;
 * - each claim that the earlier run records as refuted is proved here; or it is `seal`, which the later run, vouched
 *   for by a key of the reader, records as proved for the same entries.
 *
 * @param checks whose bundles were all read and compared with one another.
 */
export function settleSuperseded(checks: readonly RunCheck[], entries: readonly StoredLedgerEntry[]): RunCheck[] {
  const places = new Map(entries.map(({ entry }, place) => [runOf(entry)?.id, place]));
  const placeOf = (runId: string) => places.get(runId) ?? -1;
  return checks.map((check) => {
    const later = checks.find((other) => takesPlace(other, check) && placeOf(check.runId) < placeOf(other.runId));
    if (later === undefined) return check;
    const settled = { ...check, streams: withoutRefutedStatements(check, later), supersededBy: later.runId };
    return { ...settled, outcome: outcomeOf(settled) };
  });
}

/** Returns the outcomes that count for an archive; a replaced run counts only if it is refuted. */
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

/** Returns the streams without the run's recorded refutations, if all of those are disproved. */
function withoutRefutedStatements({ streams }: RunCheck, later: RunCheck): VerifiedStream[] {
  return streams.map((stream) => {
    const revised = later.streams.find(({ verdict }) => verdict.stream_id === stream.verdict.stream_id);
    const isSealed = revised !== undefined && isSealVouchedFor(stream, revised);
    const { recorded_refutation: refutation, ...verdict } = stream.verdict;
    const isWithdrawn =
      refutation !== undefined &&
      refutation.length > 0 &&
      !stream.altered &&
      refutation.every(({ claim }) => verdict.claims[claim].state === 'proved' || (claim === 'seal' && isSealed)) &&
      CLAIMS.every((name) => verdict.claims[name].state !== 'refuted');
    if (!isWithdrawn) return stream;
    const required = isSealed ? stream.required.filter((name) => name !== 'seal') : stream.required;
    const status = stream.whole ? statusBy(verdict.claims, required) : 'incomplete';
    return { ...stream, required, verdict: { ...verdict, status } };
  });
}

/** Reports whether the seals of a stream, which cannot be checked here, are vouched for as proved by a revision. */
function isSealVouchedFor(stream: VerifiedStream, revised: VerifiedStream): boolean {
  const { seal } = revised.verdict.claims;
  const wereRead = [stream, revised].every(({ altered, attested, encrypted }) => !altered && !attested && !encrypted);
  const [contents, others] = [stream, revised].map(({ verdict }) => verdict.entries_sha256);
  return wereRead && seal.vouched_for === true && contents != null && contents === others;
}
