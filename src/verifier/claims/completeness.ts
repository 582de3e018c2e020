import { plural } from '../../core/plurals.ts';
import type { WalkResult } from '../chain/walk.ts';
import { FindingLog } from '../model/finding-log.ts';
import { toStreamFinding } from '../model/stream-finding.ts';
import { type Claim, type Judgement, proved, refuted, unproved } from './claim.ts';
import type { ListingResult } from './listing.ts';
import type { NotListed, Span, Unfetched } from './schemas.ts';
import {
  type Contradiction,
  contradictionIn,
  type RecordedStatement,
  type StatementQuestion,
  type StreamStatement,
} from './statement.ts';
import { whyHidden } from './unfetched.ts';

/**
 * Statements with which the package was compared to judge completeness. They come from the service; a bundle records
 * them for later verification.
 */
export type CompletenessBasis = ({ kind: 'listing' } & ListingResult) | NotListedBasis;

/** Basis without a listing: the statement in the list of streams, or nothing. */
export type NotListedBasis = { kind: 'record' | 'none' } & NotListed;

interface CompletenessQuestion extends StatementQuestion {
  basis: CompletenessBasis;
  statement: RecordedStatement;
  /** Answer of the service about entries that no export has; see `Known`. */
  unfetched: Unfetched | null;
}

/** Returns the entries whose digests and times `judgeCompleteness` needs if the basis is a stream record. */
export function entriesBeside(headSequence: number | null): number[] {
  return headSequence === null ? [] : [headSequence, headSequence + 1];
}

/**
 * Judges whether the package holds all that the service shows of the stream in other ways. No one can tell from outside
 * whether the service shows all it has, or recorded all that happened.
 */
export function judgeCompleteness(question: CompletenessQuestion): Judgement {
  const findings = new FindingLog();
  return { claim: judge(question, findings), findings };
}

function judge(question: CompletenessQuestion, log: FindingLog): Claim {
  const { walk, basis } = question;
  if (basis.kind === 'listing' && (basis.differences > 0 || basis.deviations.length > 0))
    return judgeDifferences(walk, basis, log);
  const wrong =
    whyOtherCount(question) ?? contradictionIn(question) ?? whyHidden(question.unfetched) ?? whyShort(question);
  if (wrong !== null) {
    const { message, ...values } = wrong;
    log.add(toStreamFinding('completeness/count-differs', walk.streamId, message, values));
    return refuted(message);
  }
  if (basis.kind !== 'listing') return judgeUnlisted(question, basis, log);
  if (basis.undecided > 0) return unproved('entries-undecided', whyUndecided(basis.undecided));
  if (walk.entries === 0) return unproved('no-entries', 'there are no entries, and the service lists none');
  return proved(
    `the service's own listing has the same ${plural(basis.same, 'entry')} with the same ${basis.same === 1 ? 'digest' : 'digests'}${later(question)}`,
  );
}

/**
 * Adds that the end of a period is the service's word: it selects package and listing alike, so both may end too early.
 */
function later({ walk: { head }, period, statement }: CompletenessQuestion): string {
  const { headSequence: statedHead } = statement;
  if (period.to === null || head === null || statedHead === null || statedHead <= head.sequence) return '';
  const { sequence } = head;
  const which = statedHead === sequence + 1 ? `entry ${statedHead} is` : `entries ${sequence + 1} to ${statedHead} are`;
  return `; that ${which} of a later time is the service's word`;
}

/**
 * Compares counts: a listing has each entry of the package, and a whole stream has as many as the list of streams
 * states.
 */
function whyOtherCount({ walk, basis, period, statement }: CompletenessQuestion): Contradiction | null {
  if (basis.kind !== 'listing') return null;
  const { entries } = walk;
  if (basis.same !== entries) {
    const [expected, actual] = [String(basis.same), String(entries)];
    const message = `${plural(basis.same, 'entry')} ${basis.same === 1 ? 'was' : 'were'} compared with the listing, and the package has ${actual}`;
    return { message, expected, actual };
  }
  const { entryCount, headSequence } = statement;
  if (!isWholeStream(period) || entryCount === null) return null;
  const count = headSequence === null ? entries : entries - recordedSince(walk, statement);
  if (headSequence === null ? count >= entryCount : count === entryCount) return null;
  const [expected, actual] = [String(entryCount), String(count)];
  const message = `the list of streams states ${plural(entryCount, 'entry')}, and the package has ${actual} of them`;
  return { message, expected, actual };
}

function isWholeStream({ from, to }: Span['period']): boolean {
  return from === null && to === null;
}

/** Compares the end of an open-ended package with the head that was stated before the package was requested. */
function whyShort({ walk, basis, period, statement }: CompletenessQuestion): Contradiction | null {
  const { headSequence: statedHead } = statement;
  // A period may have no entries. The number 0 may be a stream's first entry, or say that there is none.
  const last = walk.head?.sequence ?? (walk.entries === 0 && period.from === null ? 0 : null);
  // A record alone is compared by the count and the head of the whole stream.
  if (basis.kind === 'record' && isWholeStream(period)) return null;
  if (period.to !== null || last === null || statedHead === null || statedHead <= last) return null;
  const [expected, actual] = [String(statedHead), walk.head === null ? 'no entry' : `entry ${last}`];
  const message = `the list of streams states entry ${expected}, and the package ${walk.head === null ? 'has' : 'ends at'} ${actual}`;
  return { message, expected, actual };
}

function whyUndecided(entries: number): string {
  const which = entries === 1 ? 'an entry is' : `${entries} entries are`;
  return `${which} listed after the end of the package, and no time tells whether the package should have ${entries === 1 ? 'it' : 'them'}`;
}

function judgeDifferences(walk: WalkResult, { differences, deviations }: ListingResult, log: FindingLog): Claim {
  for (const [index, { message, ...place }] of deviations.entries()) {
    // Entries beyond those kept in detail are added to the count of the first.
    const count = index === 0 ? Math.max(1, differences - (deviations.length - 1)) : 1;
    log.add(toStreamFinding('completeness/listing-differs', walk.streamId, message, place), count);
  }
  return refuted(`the service's own listing differs in ${plural(differences, 'entry')}`);
}

function judgeUnlisted(question: CompletenessQuestion, { kind, code, reason }: NotListedBasis, log: FindingLog): Claim {
  if (kind === 'none') return unproved(code, reason);
  if (isWholeStream(question.period)) return judgeByRecord(question, reason, log);
  return unproved(code, `${reason}, and the stream record speaks of the whole stream, not of this period`);
}

function judgeByRecord({ walk, statement }: CompletenessQuestion, why: string, log: FindingLog): Claim {
  const { entryCount, headSequence, headDigest, readAt } = statement;
  if (entryCount === null && headDigest === null)
    return unproved('nothing-stated', `${why}, and the service's list of streams states neither count nor head`);
  if (walk.entries === 0 && (entryCount ?? 0) === 0) return unproved('no-entries', 'there are no entries');
  const differ = (what: string, stated: string, actual: string) =>
    log.add(
      toStreamFinding(
        'completeness/count-differs',
        walk.streamId,
        `the stream record states ${what} ${stated}, and it is ${actual}`,
        { expected: stated, actual },
      ),
    );
  // Entries recorded after the record was read are in the package, but not in the record.
  const since = recordedSince(walk, statement);
  const count = walk.entries - since;
  if (entryCount !== null && count !== entryCount)
    differ('as the number of entries', String(entryCount), String(count));
  const seen = headSequence === null ? walk.head?.digest : walk.watched.get(headSequence)?.stated;
  const comparable = headDigest !== null && (headSequence !== null || since === 0);
  const place = headSequence === null ? 'the last entry' : `entry ${headSequence}`;
  if (comparable && seen !== headDigest) differ(`as the digest of ${place}`, headDigest, seen ?? 'not in the package');
  if (log.errors('completeness') > 0) return refuted('the stream record differs');
  if (entryCount === null && !comparable)
    return unproved('record-not-comparable', `${why}, and the stream record could not be compared`);
  if (since > 0 && !isRecordedAfter(walk, headSequence, readAt))
    return unproved(
      'record-too-old',
      `${why}, and the package goes on after what the stream record states, by ${plural(since, 'entry')}`,
    );
  const same = [...(entryCount === null ? [] : [plural(entryCount, 'entry')]), ...(comparable ? ['head'] : [])];
  const later = since === 0 ? '' : `, before ${plural(since, 'entry')} that came later`;
  return proved(`the stream record states the same ${same.join(' and ')}${later}; ${why}`);
}

function recordedSince({ first, head }: WalkResult, { entryCount, headSequence }: StreamStatement): number {
  if (first === null || head === null) return 0;
  const stated = headSequence ?? (entryCount === null ? head.sequence : first.sequence + entryCount - 1);
  return Math.max(0, head.sequence - stated);
}

/** Reports whether the first entry beyond the stream record was recorded after the record was read. */
function isRecordedAfter({ watched }: WalkResult, headSequence: number | null, readAt: string): boolean {
  const next = headSequence === null ? undefined : watched.get(headSequence + 1);
  return next !== undefined && Date.parse(next.timestamp) >= Date.parse(readAt);
}
