import { createHmac, hash, type KeyObject, randomUUID } from 'node:crypto';
import { CORRECTED, correctionText } from './enums.ts';
import type { StreamHead } from './head-rows.ts';
import type { CheckedEntry } from './metadata.ts';
import type { EntryRow } from './repository.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import type { WireEntry } from './wire.ts';

/** `prev_hash` of the first entry of a stream. */
export const GENESIS = '0'.repeat(64);

/** Hashed part of an entry: everything but its hash and seal. */
type EntryContent = Omit<EntryRow, 'hash' | 'seal'>;

/** Returns the hex SHA-256 of the content of an entry. */
export function hashEntry(entry: EntryContent): string {
  return hashContent(entryText(entry));
}

/** Returns the hex SHA-256 of a text that `entryText` returned. */
export function hashContent(content: string): string {
  return hash('sha256', content, 'hex');
}

/**
 * Returns the RFC 8785 form of the entry without `hash` and `seal`. The members are in the order of section 3.2.3, and
 * `metadata` is already in that form, so nothing is parsed or sorted here.
 */
export function entryText(entry: EntryContent): string {
  const members = [
    `"action":${quote(entry.action)}`,
    `"actor":${quote(entry.actor)}`,
    `"entry_id":${quote(entry.entry_id)}`,
    `"metadata":${entry.metadata}`,
    ...(entry.occurred_at === null ? [] : [`"occurred_at":${quote(entry.occurred_at)}`]),
    `"prev_hash":"${entry.prev_hash}"`,
    `"recorded_by":${quote(entry.recorded_by)}`,
    `"resource_id":${quote(entry.resource_id)}`,
    `"resource_type":${quote(entry.resource_type)}`,
    `"seal_key_id":${quote(entry.seal_key_id)}`,
    `"sequence":${entry.sequence}`,
    `"stream_id":${quote(entry.stream_id)}`,
    `"timestamp":${quote(entry.timestamp)}`,
  ];
  return `{${members.join(',')}}`;
}

/** Returns the hex HMAC-SHA-256 over the 64 ASCII characters of an entry's hash. */
export function sealHash(key: KeyObject, entryHash: string): string {
  return createHmac('sha256', key).update(entryHash, 'latin1').digest('hex');
}

/** Returns the entry as JSON text in the contract's form. The table admits only hex digests, which need no escaping. */
export function entryToJson(entry: EntryRow): string {
  const members = [
    `"entry_id":${quote(entry.entry_id)}`,
    `"stream_id":${quote(entry.stream_id)}`,
    `"sequence":${entry.sequence}`,
    `"timestamp":${quote(entry.timestamp)}`,
    ...(entry.occurred_at === null ? [] : [`"occurred_at":${quote(entry.occurred_at)}`]),
    `"actor":${quote(entry.actor)}`,
    `"action":${quote(entry.action)}`,
    `"resource_type":${quote(entry.resource_type)}`,
    `"resource_id":${quote(entry.resource_id)}`,
    `"recorded_by":${quote(entry.recorded_by)}`,
    `"metadata":${entry.metadata}`,
    `"prev_hash":"${entry.prev_hash}"`,
    `"seal_key_id":${quote(entry.seal_key_id)}`,
    `"hash":"${entry.hash}"`,
    `"seal":"${entry.seal}"`,
  ];
  return `{${members.join(',')}}`;
}

/** Returns the same entry as an object. */
export function entryToWire(entry: EntryRow): WireEntry {
  return JSON.parse(entryToJson(entry)) as WireEntry;
}

/**
 * Maximum time by which the clock may be behind the last entry of a stream without a statement; small adjustments of
 * clocks stay below it. Until then entries get the time of the last one. For longer times, an export of a period would
 * miss them, and time-stamps would seem older than the entries that they cover.
 */
const BEHIND_MS = 5000;

/** Reports whether the clock went back by more than an adjustment since the last entry of a stream. */
function wentBack(now: Date, last: string | null): boolean {
  return last !== null && Date.parse(last) - now.getTime() > BEHIND_MS;
}

/** Returns the time of an entry recorded at `now`. Only an entry that corrects the clock is before the last one. */
export function timestampOf(now: Date, last: string | null): string {
  const text = now.toISOString();
  return last === null || last <= text || wentBack(now, last) ? text : last;
}

/** Writes a string as RFC 8785 section 3.2.2.2 requires, which is the form of ECMAScript's JSON.stringify. */
function quote(text: string): string {
  return JSON.stringify(text);
}

/** `recorded_by` of entries that the platform writes about its own work. */
export const PLATFORM_ITSELF = 'platform';

/** Entry with the authenticated caller that sent it. */
export type EntryToSeal = CheckedEntry & { recordedBy: string };

/**
 * Seals an entry onto the head of its stream, and moves the head to the entry. If the clock went back, an entry that
 * states so comes first.
 */
export function sealOnto(
  head: StreamHead,
  entry: EntryToSeal,
  keys: DerivedSealKeys,
  now: Date,
): { row: EntryRow; before: EntryRow[] } {
  const before = wentBack(now, head.lastEntryAt) ? [sealNext(head, correctionOf(head, now), keys, now)] : [];
  return { row: sealNext(head, entry, keys, now), before };
}

/** Returns the entry that states that the clock went back. */
function correctionOf({ streamId: stream_id, lastEntryAt }: StreamHead, now: Date): EntryToSeal {
  const marks = { ...CORRECTED, actor: 'evidence-platform', resource_id: 'platform' };
  return {
    stream_id,
    ...marks,
    recordedBy: PLATFORM_ITSELF,
    metadataText: correctionText(now.toISOString(), lastEntryAt ?? ''),
  };
}

function sealNext(head: StreamHead, entry: EntryToSeal, keys: DerivedSealKeys, now: Date): EntryRow {
  const { id, key } = keys.of(entry.stream_id, head.sealEpoch);
  const content = {
    entry_id: randomUUID(),
    stream_id: entry.stream_id,
    sequence: head.sequence + 1,
    timestamp: timestampOf(now, head.lastEntryAt),
    occurred_at: entry.occurred_at ?? null,
    actor: entry.actor,
    action: entry.action,
    resource_type: entry.resource_type,
    resource_id: entry.resource_id,
    recorded_by: entry.recordedBy,
    metadata: entry.metadataText,
    prev_hash: head.hash ?? GENESIS,
    seal_key_id: id,
  };
  const hash = hashEntry(content);
  const { sequence, timestamp } = content;
  Object.assign(head, { sequence, count: head.count + 1, hash, lastEntryAt: timestamp });
  return { ...content, hash, seal: sealHash(key, hash) };
}
