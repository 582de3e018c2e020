import { randomUUID } from 'node:crypto';
import type { CheckedEntry } from './metadata.ts';
import type { EntryRow, StreamHead } from './repository.ts';
import { GENESIS, hashEntry, sealHash, timestampOf } from './rules.ts';
import type { DerivedSealKeys } from './seal-keys.ts';

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
