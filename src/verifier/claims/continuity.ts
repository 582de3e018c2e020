import type { WalkResult } from '../chain/walk.ts';
import { FindingLog } from '../model/finding-log.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { type Claim, type Judgement, proved, refuted, unproved } from './claim.ts';
import { type ContinuityQuestion, entriesIn, type KnownPast } from './continuity-question.ts';
import { type Covered, findGaps, placeIn } from './gaps.ts';
import { findGrown } from './grown.ts';
import { type Agreement, digestAt, findAgreements, sectionOf } from './overlap.ts';
import { findAccepted, newestRestart } from './restart.ts';
import { findRewritten } from './rewritten.ts';
import type { Span } from './schemas.ts';
import { isPlaced, newestHead, type Placed, seenIn } from './span.ts';
import { findMissing } from './truncated.ts';
import { findLate, isLate } from './unfetched.ts';

/**
 * Judges whether the package shows the same history as all earlier exports:
 * - it lacks no entry that they had and that belongs to it;
 * - no entry differs from theirs;
 * - no entry between it and theirs is in none of them;
 * - no period that had ended when it was exported has more entries now;
 * - it shares entries with one of them, borders on one, or starts at the beginning of a stream never exported before.
 */
export function judgeContinuity(question: ContinuityQuestion): Judgement {
  const findings = new FindingLog();
  const { earlier } = question;
  if (earlier === null)
    return { claim: unproved('past-unknown', 'what was exported before is not known here'), findings };
  return { claim: judge({ ...question, earlier }, findings), findings };
}

function judge(question: KnownPast, log: FindingLog): Claim {
  const { walk, earlier, statement } = question;
  for (const finding of findAccepted(question)) log.add(finding);
  const found = [...findMissing(question), ...findRewritten(walk, earlier, statement), ...findNewGaps(question)];
  for (const finding of found) log.add(finding);
  const late = findLate(walk, earlier, question.unfetched);
  for (const finding of late) log.add(finding);
  const [first] = found;
  if (first !== undefined) return refuted(first.message);
  if (late[0] !== undefined) return unproved('period-grew', late[0].message);
  if (walk.first === null || walk.head === null) return unproved('no-entries', 'there are no entries');
  const grown = findGrown(walk, earlier);
  for (const finding of grown) log.add(finding);
  if (grown[0] !== undefined) return unproved('period-grew', grown[0].message);
  const spans = earlier.filter(isPlaced);
  if (spans.length === 0) return judgeStart(question, walk.first, log);
  const agreements = findAgreements(walk, earlier);
  const open = [...agreements].find(([, how]) => how === null);
  if (open !== undefined) return unproved('not-compared', whyOpen(question, earlier[open[0]] as Placed));
  return judgePlace(question, walk.first, spans, agreements, log);
}

/** Finds gaps next to this package or closed by its period; other gaps existed before. */
function findNewGaps(question: KnownPast): StreamFinding[] {
  const { walk, earlier, period } = question;
  if (walk.findings.errors('order') > 0 || (walk.first === null) !== (walk.entries === 0)) return [];
  const past = earlier.filter(({ part }) => !part).map(toCovered);
  const known = new Set(findGaps(past).map(({ from, to }) => `${from}-${to}`));
  return findGaps([...past, { name: 'this package', period, entries: placeOf(walk) }])
    .filter((gap) => !known.has(`${gap.from}-${gap.to}`) && !isLate(gap, question))
    .map(({ from, to, before, after }) =>
      toStreamFinding(
        'continuity/gap',
        walk.streamId,
        `${entriesIn(from, to)} ${from === to ? 'is' : 'are'} missing between ${before} and ${after}, whose periods leave no time between them`,
        { from, to },
      ),
    );
}

function toCovered(span: Span): Covered {
  return { name: `run ${span.run_id}`, period: span.period, entries: placeIn(span) };
}

function placeOf(walk: WalkResult): Covered['entries'] {
  const ours = sectionOf(walk);
  if (ours === null) return null;
  const { first_recorded_at, last_recorded_at } = seenIn(walk);
  return { first: ours.first, last: ours.last, first_recorded_at, last_recorded_at };
}

function whyOpen({ walk, unread }: KnownPast, { run_id, entries }: Placed): string {
  const { first_sequence: first, head } = entries;
  const last = head.sequence;
  const ours = sectionOf(walk);
  if (ours !== null && last <= ours.last && digestAt(walk, last) === undefined)
    return `entry ${last}, the head of run ${run_id}, is not among the entries`;
  const why = unread?.get(run_id) ?? 'their digests do not tell, and their content was not compared';
  return `whether ${entriesIn(first, last)} are as run ${run_id} exported them is not known: ${why}`;
}

function judgePlace(
  { walk, restarts }: KnownPast,
  first: NonNullable<WalkResult['first']>,
  spans: readonly Placed[],
  agreements: ReadonlyMap<number, Agreement | null>,
  log: FindingLog,
): Claim {
  const how = [...agreements.values()].includes('content')
    ? ', compared by their content, as their digests do not bind it'
    : '';
  const last = walk.head?.sequence ?? first.sequence;
  const whole = spans.filter(({ part }) => !part).toSorted((a, b) => b.entries.head.sequence - a.entries.head.sequence);
  const [newest] = whole;
  const { sequence, runId } = newestHead(spans) ?? { sequence: last, runId: '' };
  if (agreements.size > 0 && first.sequence <= sequence && sequence <= last)
    return proved(
      `contains entry ${sequence}, the head of run ${runId}, unchanged${how}${others(agreements.size, restarts)}`,
    );
  if (agreements.size > 0) {
    const common = spans.find(
      ({ entries }) => entries.first_sequence <= last && entries.head.sequence >= first.sequence,
    );
    return proved(`has the same entries as run ${common?.run_id}${how}${others(agreements.size, restarts)}`);
  }
  const before = whole.find(({ entries }) => entries.head.sequence + 1 === first.sequence);
  if (before !== undefined)
    return proved(`follows entry ${before.entries.head.sequence}, the head of run ${firstWith(spans, before)}`);
  const after = whole.find(({ entries }) => entries.first_sequence - 1 === last);
  if (after !== undefined)
    return proved(`leads up to entry ${after.entries.first_sequence}, the first of run ${after.run_id}`);
  const below = whole.find(({ entries }) => entries.head.sequence < first.sequence);
  if (below === undefined)
    return unproved(
      'before-earlier-runs',
      `lies before entry ${newest?.entries.head.sequence}, the head of run ${newest?.run_id}`,
    );
  const { head } = below.entries;
  const message = `the package starts at entry ${first.sequence}, and entry ${head.sequence} (run ${below.run_id}) was the last before it that was ${KNOWN}`;
  return unknownStart(walk, first.sequence, message, log);
}

/** Returns the first run with the same last entry. */
function firstWith(spans: readonly Placed[], { entries }: Placed): string | undefined {
  return spans.find((span) => span.entries.head.sequence === entries.head.sequence)?.run_id;
}

/**
 * Says how many runs have the same entries. Runs before an accepted restart are not compared, and not counted as
 * agreeing.
 */
function others(runs: number, restarts: KnownPast['restarts']): string {
  const accepted = newestRestart(restarts);
  const since = accepted === null ? '' : ' since';
  const all = runs < 2 ? '' : `; it agrees with all ${runs} runs${since} that have some of its entries`;
  return accepted === null ? all : `; ${accepted}${all}`;
}

/** A resumed run may be finalized after runs that were not known yet when it received a stream. */
const KNOWN = 'known when it was received';

function judgeStart({ walk, restarts, earlier }: KnownPast, first: { sequence: number }, log: FindingLog): Claim {
  const accepted = newestRestart(restarts);
  const before =
    earlier.length === 0
      ? `no earlier export of the stream was ${KNOWN}`
      : `no earlier export that was ${KNOWN} had entries of it`;
  const nothing = accepted === null ? before : `no export that was ${KNOWN} had entries of it since ${accepted}`;
  if (walk.startsAtGenesis) return proved(`starts at the first entry of the stream; ${nothing}`);
  if (walk.startsAtFirst) return unproved('unknown-start', `entry ${first.sequence} names a predecessor`);
  const message = `the package starts at entry ${first.sequence}, and ${nothing}`;
  return unknownStart(walk, first.sequence, message, log);
}

function unknownStart(walk: WalkResult, sequence: number, message: string, log: FindingLog): Claim {
  log.add(toStreamFinding('continuity/unknown-start', walk.streamId, message, { sequence }));
  return unproved('unknown-start', message);
}
