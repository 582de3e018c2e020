import { proved, statusBy } from '../claims/claim.ts';
import type { ReportedVerdict } from '../claims/recorded.ts';
import type { StreamFinding } from '../model/stream-finding.ts';
import type { History, Neighbour } from './history.ts';
import type { RunCheck } from './run.ts';
import type { VerifiedStream } from './stream.ts';

const UNKNOWN_START = 'continuity/unknown-start';

/**
 * Judges bundles that began after all entries known at export again, with everything that the archive has now: another
 * run may have the entries before.
 *
 * @param checks whose bundles were all read and compared with one another.
 */
export function withBeginnings(checks: readonly RunCheck[], history: History): RunCheck[] {
  const streams = new Map(
    checks.flatMap((check) =>
      check.streams.map((stream) => [`${check.runId}/${stream.verdict.stream_id}`, stream] as const),
    ),
  );
  const verified = Map.groupBy(checks.flatMap(placesIn), ({ streamId }) => streamId);
  const beginningOf = (runId: string, stream: VerifiedStream): VerifiedStream => {
    const { verdict } = stream;
    const { stream_id: streamId, first_sequence: start } = verdict;
    if (start === null || !verdict.findings.some(({ code }) => code === UNKNOWN_START)) return stream;
    const neighbours = history.neighboursOf(runId, streamId, verified.get(streamId) ?? []);
    const holders = neighbours
      .filter(({ first, last }) => first < start && start <= last + 1)
      .map((holder) => {
        const other = streams.get(`${holder.runId}/${streamId}`);
        return { ...holder, how: joinOf({ runId, stream }, { ...holder, stream: other }, history) };
      });
    const joined = holders.find(({ how }) => how === 'joins');
    if (joined !== undefined && verdict.claims.continuity.state === 'unproved')
      return { ...stream, verdict: asJoined(stream, start, joined) };
    const [holder] = holders;
    if (holder !== undefined) return { ...stream, verdict: restated(verdict, sayHeld(start, holder)) };
    const [below] = neighbours.filter(({ last }) => last < start).toSorted((a, b) => b.last - a.last);
    if (below === undefined) return stream;
    return { ...stream, verdict: restated(verdict, { message: sayBelow(start, below) }) };
  };
  return checks.map((check) => ({
    ...check,
    streams: check.streams.map((stream) => beginningOf(check.runId, stream)),
  }));
}

/** Returns the places of the entries of a run's streams, as verified. */
function placesIn({ runId, streams }: RunCheck) {
  return streams.flatMap(({ verdict: { stream_id: streamId, first_sequence: first, head } }) =>
    first === null || head === null ? [] : [{ streamId, runId, first, last: head.sequence, hash: head.hash }],
  );
}

/** Relation of a bundle's first entry to the entries that another run has before it. */
type Join = 'joins' | 'differs' | 'open' | 'unread';

function joinOf(
  { runId, stream: own }: { runId: string; stream: VerifiedStream },
  holder: Neighbour & { stream: VerifiedStream | undefined },
  history: History,
): Join {
  const { stream_id: streamId, first_sequence: start, previous_hash: previous } = own.verdict;
  const isLast = holder.last + 1 === start;
  // A run recorded before this one in the ledger is trusted, as in an export.
  const isKnown = isLast && holder.isInLedger && !holder.isLater;
  const areRead = [own, holder.stream].every((one) => one !== undefined && one.contract !== null && !one.altered);
  if (own.altered || !(areRead || isKnown)) return 'unread';
  if (isLast && holder.hash !== previous) return 'differs';
  // A run outside the ledger contradicts earlier runs, so it proves nothing.
  if (!holder.isInLedger || history.spanOf(runId, streamId) === undefined) return 'open';
  if (isLast) return 'joins';
  // Each bundle was watched at the place where the other begins.
  const areCompared = [runId, holder.runId].every(
    (one) => history.isRead(one, streamId) && !history.isContradicted(one, streamId),
  );
  return areCompared ? 'joins' : 'open';
}

function asJoined({ verdict, required, whole }: VerifiedStream, start: number, holder: Neighbour): ReportedVerdict {
  const basis = `follows entry ${start - 1}, which run ${holder.runId} has, finalized ${whenOf(holder)} this one`;
  const claims = { ...verdict.claims, continuity: proved(basis) };
  return {
    ...verdict,
    claims,
    findings: verdict.findings.filter(({ code }) => code !== UNKNOWN_START),
    findings_count: verdict.findings_count - 1,
    status: verdict.status === 'incomplete' && whole ? statusBy(claims, required) : verdict.status,
  };
}

type Restated = Pick<StreamFinding, 'message' | 'advice'>;

/** Updates the finding to what the archive shows now. */
function restated(verdict: ReportedVerdict, now: Restated): ReportedVerdict {
  const findings = verdict.findings.map((finding) =>
    finding.code === UNKNOWN_START ? { ...finding, ...now } : finding,
  );
  const { continuity } = verdict.claims;
  if (continuity.state !== 'unproved') return { ...verdict, findings };
  return { ...verdict, findings, claims: { ...verdict.claims, continuity: { ...continuity, reason: now.message } } };
}

function sayBelow(start: number, { last, runId }: Neighbour): string {
  return `the package starts at entry ${start}, and entry ${last} (run ${runId}) is the last known before it`;
}

function sayHeld(start: number, holder: Neighbour & { how: Join }): Restated {
  const { runId, how } = holder;
  const place = `the package starts at entry ${start}; run ${runId}, finalized ${whenOf(holder)} it, has`;
  if (how === 'differs')
    return {
      message: `${place} another entry ${start - 1} than the one that entry ${start} follows`,
      advice: { code: 'compare_runs' },
    };
  return {
    message: `${place} entry ${start - 1}, but it was not proved here that the two join`,
    advice: { code: how === 'unread' ? 'verify_run' : 'see_run', run_id: runId },
  };
}

function whenOf({ isLater }: Neighbour): 'after' | 'before' {
  return isLater ? 'after' : 'before';
}
