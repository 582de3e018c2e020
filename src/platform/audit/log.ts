import { z } from 'zod';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { type AppendDeps, appendAll } from './append.ts';
import { EntryPages } from './entry-rows.ts';
import { lastEntries } from './repository.ts';
import { entryToWire, PLATFORM_ITSELF } from './rules.ts';
import type { AuditTables } from './tables.ts';
import type { WireEntry } from './wire.ts';

/** Entry that a service records about its own work. */
export interface OwnEntry {
  actor: string;
  action: string;
  resource_type: string;
  resource_id: string;
  metadata: { [name: string]: Json };
}

/**
 * Place of an entry in its stream, and the digest that it had when it was written. Every service refers to the entry of
 * a record this way.
 */
export const entryPlaceSchema = z.object({ stream_id: z.string(), sequence: z.int(), hash: z.string() });
export type EntryPlace = z.infer<typeof entryPlaceSchema>;

/** Columns that store an entry's place in the row of the record. */
export interface KeptEntryPlace {
  entry_sequence: number;
  entry_hash: string;
}

/** Returns the columns for a place. @throws Error if there is no place, which is a defect. */
export function keptPlace(place: EntryPlace | undefined): KeptEntryPlace {
  if (place === undefined) throw new Error('a record has no entry');
  return { entry_sequence: place.sequence, entry_hash: place.hash };
}

export function placeToWire(
  stream_id: string,
  { entry_sequence: sequence, entry_hash: hash }: KeptEntryPlace,
): EntryPlace {
  return { stream_id, sequence, hash };
}

/** Operations of the audit service for other modules. */
export interface AuditLog {
  /**
   * Appends entries in the transaction that writes what they record, so that both are written or neither. Call this
   * last in a transaction: it locks the stream's head until the transaction ends, and waiting for other rows while
   * holding that lock could deadlock.
   * @throws DomainError `stream_damaged`.
   */
  appendIn(transaction: Transaction, streamId: string, entries: readonly OwnEntry[]): Promise<EntryPlace[]>;
  /**
   * Appends entries to several streams, in order, like `appendIn`. A transaction that adds to several streams must do
   * so in one call, which locks their heads in one order.
   */
  appendAllIn(transaction: Transaction, entries: readonly (OwnEntry & { streamId: string })[]): Promise<EntryPlace[]>;
  /** Returns the newest entries of a stream, or the newest before the sequence number `before`. */
  newest(reader: Reader, streamId: string, page: { limit: number; before?: number | undefined }): Promise<WireEntry[]>;
}

/** Yields all entries of a stream, in order; none if there is no such stream. */
export async function* entriesOfStream(reader: Reader, streamId: string): AsyncGenerator<WireEntry> {
  const streams = reader
    .tables<AuditTables>()
    .selectFrom('streams')
    .select(['stream_no', 'stream_id', 'head_sequence']);
  const stream = await streams.where('stream_id', '=', streamId).executeTakeFirst();
  if (stream === undefined) return;
  for await (const rows of new EntryPages(reader).between(stream, 1, stream.head_sequence))
    yield* rows.map(entryToWire);
}

export function openAuditLog(deps: AppendDeps): AuditLog {
  const appendAllIn: AuditLog['appendAllIn'] = async (transaction, entries) => {
    if (entries.length === 0) return [];
    const checked = entries.map(({ streamId: stream_id, ...entry }) => ({
      ...entry,
      stream_id,
      metadataText: canonicalize(entry.metadata),
    }));
    const [outcome] = await appendAll(transaction, deps, [{ entries: checked, recordedBy: PLATFORM_ITSELF }]);
    if (outcome === undefined) return [];
    if ('refused' in outcome) throw outcome.refused;
    return outcome.appended.map(({ row: { stream_id, sequence, hash } }) => ({ stream_id, sequence, hash }));
  };
  return {
    appendAllIn,
    appendIn: (transaction, streamId, entries) =>
      appendAllIn(
        transaction,
        entries.map((entry) => ({ ...entry, streamId })),
      ),
    newest: async (reader, streamId, page) => (await lastEntries(reader, streamId, page)).map(entryToWire),
  };
}
