import { isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { parseExactJson } from '../../core/json/exact.ts';
import type { Description } from '../profile/description.ts';
import { digestReader } from '../profile/digest-text.ts';
import { valueAt } from '../profile/path.ts';
import type { EntryDescription, RecordsDescription } from '../profile/supplements.ts';
import { comparableText, type NamedEntry, type SupplementRecord } from './reading.ts';
import type { FoundEntry } from './standing.ts';

/** Code points of a value in a finding. */
const MOST_SHOWN = 200;

/** What an entry says beside a record that names it. */
export type Comparison =
  | { outcome: 'same' }
  /** Nobody can tell. */
  | { outcome: 'open'; reason: string }
  | { outcome: 'differs'; message: string; expected?: string; actual?: string };

export type EntryContract = Pick<Description, 'numbers' | 'digest' | 'entry'>;

/** Whether an entry has the digest that a record names, is of the kind that such records have, and says the same. */
export function compareWithEntry(
  contract: EntryContract,
  record: SupplementRecord,
  named: NamedEntry,
  found: FoundEntry,
  { id, entry: description }: { id: RecordsDescription['id']; entry: EntryDescription },
): Comparison {
  if (named.digest !== null && named.digest !== found.digest)
    return differs('names another digest than its entry has', named.digest, found.digest);
  const entry = found.bytes === null ? null : readEntry(found.bytes);
  if (entry === null) return open('its entry can be read in more than one way');
  if (!isNamed(contract, entry.value, named, found)) return open('the bundle shows another entry under its number');
  for (const [path, text] of Object.entries(description.is))
    if (valueAt(entry.value, path) !== text)
      return differs(`its entry has another "${path}" than those of such records`, text, shown(entry.value, path));
  if (description.within === null) return compareFields(record, entry.value, entry.isExact);
  const items = valueAt(entry.value, description.within);
  const idPath = description.says[id] ?? '';
  const [own, ...others] = (Array.isArray(items) ? items : []).filter((item) => valueAt(item, idPath) === record.id);
  if (own === undefined) return differs('its entry does not name it', record.id);
  // Of two that differ nobody could tell which is meant.
  if (others.length > 0) return differs('its entry names it more than once', record.id);
  return compareFields(record, own, entry.isExact);
}

function compareFields({ says }: SupplementRecord, said: Json, isExact: boolean): Comparison {
  for (const [path, text] of says) {
    const ofEntry = comparableText(valueAt(said, path), isExact);
    if (text === null || ofEntry === null)
      return open(`"${path}" is or holds a number that cannot be compared exactly`);
    if (text !== ofEntry) return differs(`its entry says something else as "${path}"`, text, ofEntry);
  }
  return { outcome: 'same' };
}

/** Null for what can be read in more than one way. */
function readEntry(bytes: Uint8Array): { value: Json; isExact: boolean } | null {
  try {
    const { value, ambiguity, inexact } = parseExactJson(bytes);
    return ambiguity === null ? { value, isExact: inexact === null } : null;
  } catch (error) {
    if (isEvidenceError(error, 'unreadable')) return null;
    throw error;
  }
}

/** Whether an entry is, by its own word, the one that a record names. */
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

function open(reason: string): Comparison {
  return { outcome: 'open', reason };
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
