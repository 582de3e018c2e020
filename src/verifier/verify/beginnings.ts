import { proved, statusBy } from '../claims/claim.ts';
import { sayStart } from '../claims/continuity.ts';
import type { ReportedVerdict } from '../claims/recorded.ts';
import { isPlaced, type Placed } from '../claims/span.ts';
import type { History } from './history.ts';
import type { RunCheck } from './run.ts';
import type { VerifiedStream } from './stream.ts';

const UNKNOWN_START = 'continuity/unknown-start';

/**
 * A bundle that began behind all that was known when it was exported is judged again by what the archive has now: a run
 * that was finalized later may have what comes before.
 *
 * @param checks of which all bundles were read, and compared with one another.
 */
export function withBeginnings(checks: readonly RunCheck[], history: History): RunCheck[] {
  const streams = new Map(
    checks.flatMap((check) =>
      check.streams.map((stream) => [`${check.runId}/${stream.verdict.stream_id}`, stream] as const),
    ),
  );
  const beginningOf = (runId: string, stream: VerifiedStream): VerifiedStream => {
    const { verdict } = stream;
    const start = verdict.first_sequence;
    if (start === null || !verdict.findings.some(({ code }) => code === UNKNOWN_START)) return stream;
    const spans = history.spansWith(runId, verdict.stream_id).filter(isPlaced);
    const later = spans.slice(spans.findIndex(({ run_id }) => run_id === runId) + 1);
    const holders = later.filter(({ entries }) => entries.first_sequence < start && start <= entries.head.sequence + 1);
    const joins = ({ run_id, entries }: Placed) => {
      const other = streams.get(`${run_id}/${verdict.stream_id}`);
      const areRead = [runId, run_id].every((id) => history.isRead(id, verdict.stream_id));
      if (!areRead || other === undefined || other.altered || stream.altered) return false;
      if (entries.head.sequence === start - 1) return other.verdict.head?.hash === verdict.previous_hash;
      // It has entries of this one too, and its continuity says whether they are the same.
      return other.verdict.claims.continuity.state === 'proved';
    };
    const joined = holders.find(joins);
    if (joined !== undefined && verdict.claims.continuity.state === 'unproved')
      return { ...stream, verdict: asJoined(stream, start, joined) };
    return { ...stream, verdict: restated(verdict, start, holders[0], spans) };
  };
  return checks.map((check) => ({
    ...check,
    streams: check.streams.map((stream) => beginningOf(check.runId, stream)),
  }));
}

function asJoined({ verdict, required, whole }: VerifiedStream, start: number, { run_id }: Placed): ReportedVerdict {
  const basis = `follows entry ${start - 1}, which run ${run_id} has, finalized after this one`;
  const claims = { ...verdict.claims, continuity: proved(basis) };
  return {
    ...verdict,
    claims,
    findings: verdict.findings.filter(({ code }) => code !== UNKNOWN_START),
    findings_count: verdict.findings_count - 1,
    status: verdict.status === 'incomplete' && whole ? statusBy(claims, required) : verdict.status,
  };
}

/** The finding, as far as it is true of the archive as it is now. */
function restated(
  verdict: ReportedVerdict,
  start: number,
  holder: Placed | undefined,
  spans: readonly Placed[],
): ReportedVerdict {
  const [below] = spans
    .filter(({ entries }) => entries.head.sequence < start)
    .toSorted((a, b) => b.entries.head.sequence - a.entries.head.sequence);
  const now =
    holder === undefined ? (below === undefined ? {} : { message: sayStart(start, below) }) : sayHeld(start, holder);
  const findings = verdict.findings.map((finding) =>
    finding.code === UNKNOWN_START ? { ...finding, ...now } : finding,
  );
  const { continuity } = verdict.claims;
  if (continuity.state !== 'unproved' || now.message === undefined) return { ...verdict, findings };
  return { ...verdict, findings, claims: { ...verdict.claims, continuity: { ...continuity, reason: now.message } } };
}

function sayHeld(start: number, { run_id }: Placed): { message: string; next_step: string } {
  return {
    message: `the package starts at entry ${start}; run ${run_id}, finalized after it, has entry ${start - 1}, and that the two join was not proved here`,
    next_step: `Verify the whole archive with all bundles readable, and see what is said of run ${run_id}.`,
  };
}
