import { isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { parseExactJson } from '../../core/json/exact.ts';
import type { Description } from '../profile/description.ts';
import { digestReader } from '../profile/digest-text.ts';
import { valueAt } from '../profile/path.ts';
import type { EntryDescription, RecordsDescription } from '../profile/supplements.ts';
import { toTimeOrNull } from '../profile/time.ts';
import type { RecordOpenCode } from './document.ts';
import { type Comparison, compareMembers, type Saying } from './members.ts';
import type { NamedEntry, SupplementRecord } from './reading.ts';
import type { FoundEntry, StreamNotes } from './standing.ts';

/** Maximum number of code points of a value in a finding. */
const MOST_SHOWN = 200;

/** Facts about the stream of a record's entry. */
export interface StreamFacts {
  notes: StreamNotes;
  /** True if the bundle reaches to the time at which the record was requested. */
  isCurrent: boolean;
  /**
   * Reports whether an entry existed before the record was requested. @param at time of recording; null if not stated.
   */
  isCertain(sequence: number, at: number | null): boolean;
}

export type EntryContract = Pick<Description, 'numbers' | 'digest' | 'entry'>;

/** Checks that an entry has the digest that a record names, is of the right kind, and states the same. */
export function compareWithEntry(
  contract: EntryContract,
  record: SupplementRecord,
  named: NamedEntry,
  found: FoundEntry,
  facts: StreamFacts,
  { id, entry: description }: { id: RecordsDescription['id']; entry: EntryDescription },
): Comparison {
  if (named.digest !== null && named.digest !== found.digest)
    return differs('names another digest than its entry has', named.digest, found.digest);
  const entry = found.bytes === null ? null : readEntryText(found.bytes);
  if (entry === null) return open('ambiguous-entry', 'its entry can be read in more than one way');
  if (!isNamed(contract, entry.value, named, found))
    return open('another-entry', 'the bundle shows another entry under its number');
  for (const [path, text] of Object.entries(description.is))
    if (valueAt(entry.value, path) !== text)
      return differs(`its entry has another "${path}" than those of such records`, text, shown(entry.value, path));
  const idPath = description.says[id] ?? '';
  const said = itemOf(entry.value, description.within, idPath, record.id);
  if (said === null) return differs('its entry does not name it, or more than once', record.id);
  const farOff = compareTime(contract, record, entry.value, description.time_within_seconds);
  if (farOff !== null) return farOff;
  const later = laterSayings(contract, record, description, facts);
  if (later === null) return open('ambiguous-entry', 'an entry that changes it can be read in more than one way');
  const { may_say } = description;
  const first = { sequence: named.sequence, said, isExact: entry.isExact, may_say, isCertain: true };
  const comparison = compareMembers(record, description, { first, later, isCurrent: facts.isCurrent });
  return comparison.outcome === 'differs'
    ? differs(comparison.message, comparison.expected ?? '', comparison.actual)
    : comparison;
}

/**
 * Returns the item of an entry that is about a record, or the entry itself; null if there is none, or more than one.
 */
function itemOf(entry: Json, within: string | null, idPath: string, id: string): Json | null {
  if (within === null) return entry;
  const items = valueAt(entry, within);
  const [own, ...others] = (Array.isArray(items) ? items : []).filter((item) => valueAt(item, idPath) === id);
  // If two items differ, no one could tell which of them is meant.
  return own === undefined || others.length > 0 ? null : own;
}

function compareTime(
  { entry: { timestamp: path, timestamp_unit: unit } }: EntryContract,
  { time: at }: SupplementRecord,
  entry: Json,
  within: number | null,
): Comparison | null {
  if (within === null || at === null || path === null) return null;
  const recorded = toTimeOrNull(valueAt(entry, path), unit);
  if (recorded === null || Math.abs(Date.parse(recorded) - Date.parse(at)) <= within * 1000) return null;
  return differs(`its time is more than ${within} seconds from that of its entry`, at, recorded);
}

/**
 * Returns the later entries that state members of a record again, in order; null if one can be read in more than one
 * way.
 */
function laterSayings(
  contract: EntryContract,
  record: SupplementRecord,
  { later }: EntryDescription,
  { notes, isCertain }: StreamFacts,
): Saying[] | null {
  const sayings: Saying[] = [];
  for (const sequence of notes.later(record.kind, record.id)) {
    const bytes = notes.find(sequence)?.bytes ?? null;
    const entry = bytes === null ? null : readEntryText(bytes);
    if (entry === null) return null;
    const { value, isExact } = entry;
    for (const { is, within, id, may_say } of later) {
      if (!isKind(value, is)) continue;
      const said = itemOf(value, within, id, record.id);
      if (said === null || (within === null && valueAt(value, id) !== record.id)) continue;
      sayings.push({ sequence, said, isExact, may_say, isCertain: isCertain(sequence, entryTimeOf(contract, value)) });
    }
  }
  return sayings;
}

/** Returns an entry's time of recording; null if not stated. */
export function entryTimeOf({ entry: { timestamp, timestamp_unit } }: EntryContract, entry: Json): number | null {
  const time = timestamp === null ? null : toTimeOrNull(valueAt(entry, timestamp), timestamp_unit);
  return time === null ? null : Date.parse(time);
}

export function isKind(entry: Json, is: Readonly<Record<string, string>>): boolean {
  return Object.entries(is).every(([path, text]) => valueAt(entry, path) === text);
}

/** Returns null for an entry that can be read in more than one way. */
export function readEntryText(bytes: Uint8Array): { value: Json; isExact: boolean } | null {
  try {
    const { value, ambiguity, inexact } = parseExactJson(bytes);
    return ambiguity === null ? { value, isExact: inexact === null } : null;
  } catch (error) {
    if (isEvidenceError(error, 'unreadable')) return null;
    throw error;
  }
}

/** Reports whether an entry is, by its own statement, the one that a record names. */
function isNamed(
  { numbers, digest, entry }: EntryContract,
  value: Json,
  named: NamedEntry,
  found: FoundEntry,
): boolean {
  const sent = valueAt(value, entry.sequence);
  const isOfStream = entry.stream_id === null || valueAt(value, entry.stream_id) === named.streamId;
  const isNumber = sent === named.sequence || (numbers === 'text' && sent === String(named.sequence));
  return isOfStream && isNumber && digestReader(digest).digest(valueAt(value, entry.digest)) === found.digest;
}

function open(code: RecordOpenCode, reason: string): Comparison {
  return { outcome: 'open', code, reason };
}

function differs(message: string, expected: string, actual?: string): Comparison {
  return {
    outcome: 'differs',
    message,
    expected: cutText(expected, MOST_SHOWN),
    ...(actual === undefined ? {} : { actual: cutText(actual, MOST_SHOWN) }),
  };
}

function shown(value: Json, path: string): string {
  return canonicalize(valueAt(value, path) ?? null);
}
