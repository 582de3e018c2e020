import type { Json } from '../../core/json/canonical.ts';
import { valueAt } from '../profile/path.ts';
import type { EntryDescription } from '../profile/supplements.ts';
import type { RecordOpenCode } from './document.ts';
import { comparableText, type SupplementRecord } from './reading.ts';

/** Result of comparing a record with the entries that name it. */
export type Comparison =
  /** Equal; with the members that entries state. */
  | { outcome: 'same'; stated: readonly string[] }
  /** Comparison is not possible. */
  | { outcome: 'open'; code: RecordOpenCode; reason: string }
  | { outcome: 'differs'; message: string; expected?: string; actual?: string };

/** Entry that bears on a record, or the item in it that does. */
export interface Saying {
  sequence: number;
  said: Json;
  isExact: boolean;
  /** Members of the record that it may state, each with the member of the entry. */
  may_say: EntryDescription['may_say'];
  /** True if the entry existed before the record was requested. */
  isCertain: boolean;
}

/** Entries about one record, the first one first. */
interface Sayings {
  first: Saying;
  later: readonly Saying[];
  /**
   * True if the bundle reaches to the time at which the record was requested, so that no entry before it is unknown.
   */
  isCurrent: boolean;
}

interface Stated {
  text: string;
  sequence: number;
  path: string;
  isCertain: boolean;
}

/**
 * Compares every member of a record that entries state. A member that later entries state again must equal the newest
 * statement that existed when the record was requested, or a later one.
 */
export function compareMembers(
  record: SupplementRecord,
  { says, later: descriptions, rises }: EntryDescription,
  { first, later, isCurrent }: Sayings,
): Comparison {
  const strict = compareStrictly(record, says, first);
  if (strict.outcome !== 'same') return strict;
  const stated = [...strict.stated];
  const sayings = [first, ...later];
  const canFollow = descriptions.filter(({ was }) =>
    Object.entries(was).every(([member, text]) =>
      statesOf(member, sayings)?.some((one) => one.text === JSON.stringify(text)),
    ),
  );
  const changing = new Set(canFollow.flatMap(({ may_say }) => Object.keys(may_say)));
  for (const member of new Set(sayings.flatMap(({ may_say }) => Object.keys(may_say)))) {
    const states = statesOf(member, sayings);
    if (states === null) return inexact(member);
    if (states.length === 0) continue;
    const own = comparableText(valueAt(record.value, member), record.isExact);
    if (own === null) return inexact(member);
    const newest = states.findLastIndex(({ isCertain }) => isCertain);
    if (states.slice(Math.max(newest, 0)).some(({ text }) => text === own)) stated.push(member);
    else {
      const last = states[Math.max(newest, 0)] as Stated;
      const isLower = newest >= 0 && rankOf(rises[member], own) < rankOf(rises[member], last.text);
      if (!changing.has(member) || isLower || isCurrent) return differs(member, last, own);
    }
  }
  return { outcome: 'same', stated };
}

function compareStrictly(record: SupplementRecord, says: EntryDescription['says'], first: Saying): Comparison {
  for (const [member, path] of Object.entries(says)) {
    const own = comparableText(valueAt(record.value, member), record.isExact);
    const text = comparableText(valueAt(first.said, path), first.isExact);
    if (own === null || text === null) return inexact(path);
    if (text !== own) return differs(member, { text, sequence: first.sequence, path, isCertain: true }, own);
  }
  return { outcome: 'same', stated: Object.keys(says) };
}

/** Returns the values that entries state for a member, in order; null if a number is not exact. */
function statesOf(member: string, sayings: readonly Saying[]): Stated[] | null {
  const states: Stated[] = [];
  for (const { said, isExact, may_say, sequence, isCertain } of sayings) {
    const path = may_say[member];
    const value = path === undefined ? undefined : valueAt(said, path);
    if (path === undefined || value === undefined) continue;
    const text = comparableText(value, isExact);
    if (text === null) return null;
    states.push({ text, sequence, path, isCertain });
  }
  return states;
}

/** Returns the rank of a value that only rises; NaN, which is lower than nothing, for other values. */
function rankOf(values: readonly string[] | undefined, text: string): number {
  const rank = (values ?? []).findIndex((value) => JSON.stringify(value) === text);
  return rank === -1 ? Number.NaN : rank;
}

function differs(member: string, { text, sequence, path }: Stated, own: string): Comparison {
  const message = `its "${member}" is not what entry ${sequence} says as "${path}"`;
  return { outcome: 'differs', message, expected: own, actual: text };
}

function inexact(path: string): Comparison {
  return {
    outcome: 'open',
    code: 'inexact-number',
    reason: `"${path}" is or holds a number that cannot be compared exactly`,
  };
}
