import type { SupplementFindingCode } from '../model/supplement-finding.ts';
import type { Description } from '../profile/description.ts';
import type { EntryDescription, RecordsDescription } from '../profile/supplements.ts';
import { type Comparison, compareWithEntry, type EntryContract } from './comparing.ts';
import type { RecordStateName } from './document.ts';
import { describeRecords, type NamedEntry, type SupplementRecord } from './reading.ts';
import type { StreamStanding } from './standing.ts';

/** What is wrong with a record, before it is said of which one. */
export interface RecordFault {
  code: SupplementFindingCode;
  message: string;
  expected?: string;
  actual?: string;
  /** Whether the same is true of other records of the kind that name this stream, so that it is said once. */
  isCommon: boolean;
}

export interface RecordJudgement {
  state: RecordStateName;
  /** Why it is not proved. */
  reason?: string;
  fault?: RecordFault;
}

export type JudgedContract = EntryContract & Pick<Description, 'supplements'>;

/**
 * Judges a record by what the run knows of the stream that its entry is in: alike in an export and in a verification.
 *
 * A record is proved by its entry where all of these hold:
 * 1. The entry is of the stream that such records have theirs in.
 * 2. No claim about that stream is refuted, and its order and its content are proved.
 * 3. The bundle of the stream has the entry of that number.
 * 4. The digests of the stream cover all that is compared.
 * 5. The entry has the digest that the record names.
 * 6. The entry says what the record says.
 */
export function judgeRecord(
  contract: JudgedContract,
  record: SupplementRecord,
  standingOf: (streamId: string) => StreamStanding,
): RecordJudgement {
  const description = contract.supplements && describeRecords(contract.supplements, record.kind);
  if (description == null || !namesEntries(description))
    return unproved('the service names no entries of such records');
  const { entry } = record;
  if (entry === null) return noEntry();
  if (entry.stream !== null && entry.stream !== entry.streamId)
    return contradicted('it names an entry of another stream than such records have', {
      expected: entry.stream,
      actual: entry.streamId,
    });
  const standing = standingOf(entry.streamId);
  if (standing.kind === 'unknown') return unproved(standing.reason);
  if (standing.kind === 'refuted') return contradicted('the stream of its entry is refuted', { isCommon: true });
  const { first, last, open, notCovered, find } = standing;
  if (open !== null) return unproved(open);
  if (first === null || last === null || entry.sequence < first || entry.sequence > last)
    return outside(entry, first, last);
  const bare = pathsOf(description.entry).find((path) => notCovered.some((member) => overlap(path, member)));
  if (bare !== undefined) return unproved(`the digests of its stream do not cover "${bare}" of entries`);
  const found = find(entry.sequence);
  if (found === null) return unproved('the bundle of its stream has a gap where its entry would be');
  return toJudgement(compareWithEntry(contract, record, entry, found, description));
}

function namesEntries<D extends RecordsDescription>(description: D): description is D & { entry: EntryDescription } {
  return description.entry !== null;
}

function toJudgement(comparison: Comparison): RecordJudgement {
  if (comparison.outcome === 'same') return { state: 'proved_by_entry' };
  if (comparison.outcome === 'open') return unproved(comparison.reason);
  const { message, expected, actual } = comparison;
  return contradicted(message, {
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual }),
  });
}

function unproved(reason: string): RecordJudgement {
  return { state: 'unproved', reason };
}

/** @param message goes on from what record it is of. */
export function contradicted(
  message: string,
  { isCommon = false, ...values }: { expected?: string; actual?: string; isCommon?: boolean } = {},
): RecordJudgement {
  const fault: RecordFault = { code: 'supplement/contradicted', message, ...values, isCommon };
  return { state: 'contradicted', reason: message, fault };
}

function noEntry(): RecordJudgement {
  const message = 'it names no audit entry, and such records have one';
  return { state: 'no_entry', reason: message, fault: { code: 'supplement/no-entry', message, isCommon: true } };
}

/** It was recorded in the period, and its entry was not, or not yet. */
function outside({ sequence }: NamedEntry, first: number | null, last: number | null): RecordJudgement {
  const held = first === null || last === null ? 'no entries' : `the entries ${first} to ${last}`;
  const reason = `its entry ${sequence} lies outside of the bundle, which has ${held}`;
  const message = `their entries lie outside of the bundle, which has ${held}`;
  return { state: 'unproved', reason, fault: { code: 'supplement/outside-bundle', message, isCommon: true } };
}

/** What of an entry is compared. */
function pathsOf({ is, within, says }: EntryDescription): string[] {
  const own = Object.values(says).map((path) => (within === null ? path : `${within}.${path}`));
  return [...Object.keys(is), ...own];
}

function overlap(path: string, member: string): boolean {
  return path === member || path.startsWith(`${member}.`) || member.startsWith(`${path}.`);
}
