import { whereDefined } from '../../core/defined.ts';
import type { SupplementFindingCode } from '../model/supplement-finding.ts';
import type { Description } from '../profile/description.ts';
import type { EntryDescription, RecordsDescription } from '../profile/supplements.ts';
import { compareWithEntry, type EntryContract, type StreamFacts } from './comparing.ts';
import type { RecordStateName, SupplementState } from './document.ts';
import { RECORD_KINDS, type RecordKind } from './files.ts';
import type { Comparison } from './members.ts';
import { describeRecords, type NamedEntry, type SupplementRecord } from './reading.ts';
import type { StreamStanding } from './standing.ts';

/** A fault of a record, before it is said of which one. */
export interface RecordFault {
  code: SupplementFindingCode;
  message: string;
  expected?: string;
  actual?: string;
  /** True if the same holds for other records of the kind that name this stream, so that it is said once. */
  isCommon: boolean;
}

interface RecordJudgement {
  state: RecordStateName;
  /** The reason that it is not proved. */
  reason?: string;
  /** For a record that is proved: columns that no entry states. */
  asReported?: string[];
  fault?: RecordFault;
}

interface StreamList {
  streams: Iterable<{ stream_id: string; head: { sequence: number | null } }>;
}

export type JudgedContract = EntryContract & Pick<Description, 'supplements'>;

/**
 * Judges a record by what the run knows of the stream that its entry is in: alike in an export and in a verification.
 *
 * A record is proved by its entry where all of these hold:
 * 1. The entry is of the stream that such records have theirs in.
 * 2. No claim about that stream is refuted, and its order and its content are proved.
 * 3. The bundle of the stream has the entry of that number, and no other entry says that it is this record's.
 * 4. The digests of the stream cover all that is compared.
 * 5. The entry has the digest that the record names.
 * 6. The entry, and those after it that are about the record, say what the record says; its time is close to theirs.
 */
export function judgeRecord(
  contract: JudgedContract,
  record: SupplementRecord,
  { standingOf, askedAt }: { standingOf(streamId: string): StreamStanding; askedAt: RecordsAsked },
): RecordJudgement {
  const description = contract.supplements && describeRecords(contract.supplements, record.kind);
  if (description == null || !isJudged(description)) return unproved('the service names no entries of such records');
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
  const { first, last, open, notCovered, notes } = standing;
  if (open !== null) return unproved(open);
  const bare = pathsOf(description.entry).find((path) => notCovered.some((member) => overlap(path, member)));
  if (bare !== undefined) return unproved(`the digests of its stream do not cover "${bare}" of entries`);
  const wrong = wrongPlace(record, entry, standing, { askedAt, within: description.entry.time_within_seconds });
  if (wrong !== null) return wrong;
  if (first === null || last === null || entry.sequence < first || entry.sequence > last)
    return outside(entry, first, last);
  const found = notes.find(entry.sequence);
  if (found === null) return unproved('the bundle of its stream has a gap where its entry would be');
  const facts = streamFactsOf(standing, askedAt);
  return toJudgement(compareWithEntry(contract, record, entry, found, facts, description), description);
}

/**
 * The number that a record names cannot be that of its entry: another entry names the record, or there was none of that
 * number.
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

/** When records of a kind were asked for, and what that means for entries. */
export interface RecordsAsked {
  /** RFC 3339. */
  at: string;
  /** When the attempt began that read the list of streams. */
  startedAt: string;
  /** They were asked for by that attempt. */
  isOfList: boolean;
  /** End of the run's period; null for all time. */
  to: string | null;
}

/** When records of each kind were asked for; null for kinds whose service was not collected from. */
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

/** The newest entry of each stream, by the service's list of streams. */
export function listedHeads({ streams }: StreamList): ReadonlyMap<string, number | null> {
  return new Map(Array.from(streams, ({ stream_id, head }) => [stream_id, head.sequence]));
}

/** Clocks of the exporter and of a service may be so far apart. */
export const CLOCKS_APART_MS = 5 * 60_000;

/** Returns the facts that the bundle of a stream has for records that were asked for then. */
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
  if (comparison.outcome === 'open') return unproved(comparison.reason);
  const { message, expected, actual } = comparison;
  return contradicted(message, whereDefined({ expected, actual }));
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
