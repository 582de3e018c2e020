import { whereDefined } from '../../core/defined.ts';
import type { SupplementFindingCode } from '../model/supplement-finding.ts';
import type { Description } from '../profile/description.ts';
import type { EntryDescription, RecordsDescription } from '../profile/supplements.ts';
import { compareWithEntry, type EntryContract, type StreamFacts } from './comparing.ts';
import type { RecordOpenCode, RecordStateName, SupplementState } from './document.ts';
import { RECORD_KINDS, type RecordKind } from './files.ts';
import type { Comparison } from './members.ts';
import { describeRecords, type NamedEntry, type SupplementRecord } from './reading.ts';
import type { StreamStanding } from './standing.ts';

/** Fault of a record, before the record is named. */
export interface RecordFault {
  code: SupplementFindingCode;
  message: string;
  expected?: string;
  actual?: string;
  /** True if the same holds for other records of the kind that name this stream, so that it is reported once. */
  isCommon: boolean;
}

export interface RecordJudgement {
  state: RecordStateName;
  /** Code of the reason; for an unproved record only. */
  code?: RecordOpenCode;
  /** Reason why it is not proved. */
  reason?: string;
  /** Columns of a proved record that no entry states. */
  asReported?: string[];
  fault?: RecordFault;
}

interface StreamList {
  streams: Iterable<{ stream_id: string; head: { sequence: number | null } }>;
}

export type JudgedContract = EntryContract & Pick<Description, 'supplements'>;

/**
 * Judges a record by the run's knowledge of its entry's stream, in the same way in an export and in a verification.
 *
 * A record is proved by its entry if
 * 1. the entry is in the stream in which such records have their entries;
 * 2. no claim about that stream is refuted, and its order and content are proved;
 * 3. the bundle of the stream has the entry of that number, and no other entry claims the record;
 * 4. the digests of the stream cover everything that is compared;
 * 5. the entry has the digest that the record names;
 * 6. the entry and later ones about the record state the same as the record, at a similar time.
 */
export function judgeRecord(
  contract: JudgedContract,
  record: SupplementRecord,
  { standingOf, askedAt }: { standingOf(streamId: string): StreamStanding; askedAt: RecordsAsked },
): RecordJudgement {
  const description = contract.supplements && describeRecords(contract.supplements, record.kind);
  if (description == null || !isJudged(description))
    return unproved('no-entries-named', 'the service names no entries of such records');
  const { entry } = record;
  if (entry === null) return noEntry();
  if (entry.stream !== null && entry.stream !== entry.streamId)
    return contradicted('it names an entry of another stream than such records have', {
      expected: entry.stream,
      actual: entry.streamId,
    });
  const standing = standingOf(entry.streamId);
  if (standing.kind === 'unknown') return unproved('stream-not-read', 'the bundle of its stream was not opened');
  if (standing.kind === 'refuted') return contradicted('the stream of its entry is refuted', { isCommon: true });
  const { first, last, open, notCovered, notes } = standing;
  if (open !== null) return unproved('stream-not-proved', open);
  const bare = pathsOf(description.entry).find((path) => notCovered.some((member) => overlap(path, member)));
  if (bare !== undefined) return unproved('not-covered', `the digests of its stream do not cover "${bare}" of entries`);
  const wrong = wrongPlace(record, entry, standing, { askedAt, within: description.entry.time_within_seconds });
  if (wrong !== null) return wrong;
  if (first === null || last === null || entry.sequence < first || entry.sequence > last)
    return outside(entry, first, last);
  const found = notes.find(entry.sequence);
  if (found === null) return unproved('gap', 'the bundle of its stream has a gap where its entry would be');
  const facts = streamFactsOf(standing, askedAt);
  return toJudgement(compareWithEntry(contract, record, entry, found, facts, description), description);
}

/**
 * Reports a record that cannot belong to the entry of its number: another entry names the record, or no entry of that
 * number existed.
 */
function wrongPlace(
  { kind, id, time }: SupplementRecord,
  { sequence }: NamedEntry,
  { notes, listed }: Extract<StreamStanding, { kind: 'read' }>,
  { askedAt, within }: { askedAt: RecordsAsked; within: number | null },
): RecordJudgement | null {
  const own = notes.implied(kind).get(id) ?? sequence;
  const values = (one: number) => ({ expected: String(sequence), actual: String(one) });
  if (own !== sequence) return contradicted(`entry ${own} says that it is this record's`, values(own));
  if (listed === null || sequence <= listed) return null;
  const latest = time === null || within === null ? Infinity : Date.parse(time) + within * 1000 + CLOCKS_APART_MS;
  const wasThere = !askedAt.isOfList || latest < Date.parse(askedAt.startedAt);
  return wasThere
    ? contradicted('the service listed no entry of that number when there must have been one', values(listed))
    : null;
}

type Judged = RecordsDescription & { entry: EntryDescription };

function isJudged(description: RecordsDescription): description is Judged {
  return description.entry !== null;
}

/** Time at which records of a kind were requested, and its consequences for entries. */
export interface RecordsAsked {
  /** RFC 3339. */
  at: string;
  /** Start of the attempt that read the list of streams. */
  startedAt: string;
  /** True if the records were requested by that attempt. */
  isOfList: boolean;
  /** End of the run's period; null for all time. */
  to: string | null;
}

/**
 * Returns a function that returns the time at which records of a kind were requested; null for kinds of services that
 * were not collected from.
 */
export function askedAtOf(
  services: Readonly<Record<string, SupplementState>>,
  { startedAt, to }: { startedAt: string; to: string | null },
): (kind: RecordKind) => RecordsAsked | null {
  return (kind) => {
    const service = services[RECORD_KINDS[kind]];
    if (service?.state !== 'collected') return null;
    const { collected_at: at } = service;
    return { at, to, startedAt, isOfList: Date.parse(at) >= Date.parse(startedAt) };
  };
}

/** Returns the newest entry of each stream, by the service's list of streams. */
export function listedHeads({ streams }: StreamList): ReadonlyMap<string, number | null> {
  return new Map(Array.from(streams, ({ stream_id, head }) => [stream_id, head.sequence]));
}

/** Maximum difference between the clocks of the exporter and of a service. */
export const CLOCKS_APART_MS = 5 * 60_000;

/** Returns the facts that a stream's bundle has for records requested at that time. */
export function streamFactsOf(
  { notes, listed, requestedAt }: Extract<StreamStanding, { kind: 'read' }>,
  { at, isOfList, to }: RecordsAsked,
): StreamFacts {
  const asked = Date.parse(at);
  return {
    notes,
    isCurrent: Date.parse(requestedAt) >= asked && (to === null || Date.parse(to) > asked),
    isCertain: (sequence, time) =>
      isOfList && listed !== null ? sequence <= listed : time !== null && time < asked - CLOCKS_APART_MS,
  };
}

function toJudgement(comparison: Comparison, { csv, time, entry }: Judged): RecordJudgement {
  if (comparison.outcome === 'same') {
    const { stream, time_within_seconds: within } = entry;
    const stated = new Set([...comparison.stated, ...(stream?.match(/(?<=\{)[^{}]+(?=\})/g) ?? [])]);
    if (time !== null && within !== null) stated.add(time);
    return { state: 'proved_by_entry', asReported: csv.filter((column) => !stated.has(column)) };
  }
  if (comparison.outcome === 'open') return unproved(comparison.code, comparison.reason);
  const { message, expected, actual } = comparison;
  return contradicted(message, whereDefined({ expected, actual }));
}

function unproved(code: RecordOpenCode, reason: string): RecordJudgement {
  return { state: 'unproved', code, reason };
}

/** @param message text that follows the name of the record. */
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

/** Judges a record of the period whose entry was recorded outside of it, or not yet. */
function outside({ sequence }: NamedEntry, first: number | null, last: number | null): RecordJudgement {
  const held = first === null || last === null ? 'no entries' : `the entries ${first} to ${last}`;
  const reason = `its entry ${sequence} lies outside of the bundle, which has ${held}`;
  const message = `their entries lie outside of the bundle, which has ${held}`;
  return {
    ...unproved('outside-bundle', reason),
    fault: { code: 'supplement/outside-bundle', message, isCommon: true },
  };
}

/** Returns the paths of an entry that are compared. */
function pathsOf({ is, within, says, may_say, later }: EntryDescription): string[] {
  const own = { within, members: { ...says, ...may_say } };
  const all = [own, ...later.map((one) => ({ within: one.within, members: { id: one.id, ...one.may_say } }))];
  const kinds = [is, ...later.map((one) => one.is)].flatMap((one) => Object.keys(one));
  const inEntry = (path: string, list: string | null) => (list === null ? path : `${list}.${path}`);
  return [
    ...kinds,
    ...all.flatMap(({ within: list, members }) => Object.values(members).map((path) => inEntry(path, list))),
  ];
}

function overlap(path: string, member: string): boolean {
  return path === member || path.startsWith(`${member}.`) || member.startsWith(`${path}.`);
}
