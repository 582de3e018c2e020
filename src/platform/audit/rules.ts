import { createHmac, hash, type KeyObject, randomUUID } from 'node:crypto';
import { DomainError } from '../errors.ts';
import type { CheckedEntry } from './metadata.ts';
import type { EntryRow, StreamHead } from './repository.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import type { WireEntry } from './wire.ts';

/** The `prev_hash` of the first entry of a stream: nothing came before. */
export const GENESIS = '0'.repeat(64);

/** The part of an entry that is hashed: all of it but its own hash and seal. */
type EntryContent = Omit<EntryRow, 'hash' | 'seal'>;

/** Hex SHA-256 of the content of an entry. */
export function hashEntry(entry: EntryContent): string {
  return hashContent(entryText(entry));
}

/** Hex SHA-256 of a text that `entryText` returned. */
export function hashContent(content: string): string {
  return hash('sha256', content, 'hex');
}

/**
 * The RFC 8785 form of the entry without `hash` and `seal`. The members are written in the order in which section 3.2.3
 * sorts them, and `metadata` is in that form already, so nothing is parsed or sorted here.
 */
export function entryText(entry: EntryContent): string {
  const members = [
    `"action":${quote(entry.action)}`,
    `"actor":${quote(entry.actor)}`,
    `"entry_id":${quote(entry.entry_id)}`,
    `"metadata":${entry.metadata}`,
    ...(entry.occurred_at === null ? [] : [`"occurred_at":${quote(entry.occurred_at)}`]),
    `"prev_hash":"${entry.prev_hash}"`,
    `"resource_id":${quote(entry.resource_id)}`,
    `"resource_type":${quote(entry.resource_type)}`,
    `"seal_key_id":${quote(entry.seal_key_id)}`,
    `"sequence":${entry.sequence}`,
    `"stream_id":${quote(entry.stream_id)}`,
    `"timestamp":${quote(entry.timestamp)}`,
  ];
  return `{${members.join(',')}}`;
}

/** Hex HMAC-SHA-256 over the 64 ASCII characters of an entry's hash. */
export function sealHash(key: KeyObject, entryHash: string): string {
  return createHmac('sha256', key).update(entryHash, 'latin1').digest('hex');
}

/** The entry as the contract serves it, as JSON text. The table admits only hex as digests: they need no escaping. */
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
    `"metadata":${entry.metadata}`,
    `"prev_hash":"${entry.prev_hash}"`,
    `"seal_key_id":${quote(entry.seal_key_id)}`,
    `"hash":"${entry.hash}"`,
    `"seal":"${entry.seal}"`,
  ];
  return `{${members.join(',')}}`;
}

/** The same entry as an object. */
export function entryToWire(entry: EntryRow): WireEntry {
  return JSON.parse(entryToJson(entry)) as WireEntry;
}

/** The most that this machine's clock may be slow against the last entry of a stream: clocks are corrected by so much. */
const BEHIND_MS = 5000;

/**
 * The time that an entry recorded at `now` gets: never before the last one of its stream.
 * @throws DomainError `clock_behind` when the clock went back by more than a correction. Entries would all be dated by
 * the stream's last until the clock is there again, and a period would miss them.
 */
export function timestampOf(now: Date, last: string | null): string {
  const text = now.toISOString();
  if (last === null || last <= text) return text;
  if (Date.parse(last) - now.getTime() > BEHIND_MS)
    throw new DomainError(
      'clock_behind',
      `the last entry of the stream is of ${last}, and this machine's clock says ${text}; nothing was recorded`,
    );
  return last;
}

/** RFC 8785 section 3.2.2.2: strings as ECMAScript's JSON.stringify writes them. */
function quote(text: string): string {
  return JSON.stringify(text);
}

/**
 * Seals an entry onto the head of its stream, which moves to it.
 * @throws DomainError `clock_behind`.
 */
export function sealOnto(head: StreamHead, entry: CheckedEntry, keys: DerivedSealKeys, now: Date): EntryRow {
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
    metadata: entry.metadataText,
    prev_hash: head.hash ?? GENESIS,
    seal_key_id: id,
  };
  const hash = hashEntry(content);
  const { sequence, timestamp } = content;
  Object.assign(head, { sequence, count: head.count + 1, hash, lastEntryAt: timestamp });
  return { ...content, hash, seal: sealHash(key, hash) };
}
