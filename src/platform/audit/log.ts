import { z } from 'zod';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { type AppendDeps, appendAll } from './append.ts';
import { lastEntries } from './repository.ts';
import { entryToWire } from './rules.ts';
import type { WireEntry } from './wire.ts';

/** An entry that a service records of its own. */
export interface OwnEntry {
  actor: string;
  action: string;
  resource_type: string;
  resource_id: string;
  metadata: { [name: string]: Json };
}

/** The place of an entry in its stream, and its digest when it was written: so every service names the entry of a record. */
export const entryPlaceSchema = z.object({ stream_id: z.string(), sequence: z.int(), hash: z.string() });
export type EntryPlace = z.infer<typeof entryPlaceSchema>;

/** As it is kept beside a record. */
export interface KeptEntryPlace {
  entry_sequence: number;
  entry_hash: string;
}

/** @throws Error for a place that was not answered: a defect. */
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

/** The operations of the audit service that other modules may call. */
export interface AuditLog {
  /**
   * Appends entries in the transaction of what they record, so that there is both or neither. It holds the head of the
   * stream until the transaction ends, so it comes last in it: whoever waited for other rows with the head in their hands
   * could wait for somebody who waits for the head.
   * @throws DomainError `clock_behind`, `stream_damaged`.
   */
  appendIn(transaction: Transaction, streamId: string, entries: readonly OwnEntry[]): Promise<EntryPlace[]>;
  /** The same for entries of several streams, in their order. Whoever adds to several adds to all of them at once. */
  appendAllIn(transaction: Transaction, entries: readonly (OwnEntry & { streamId: string })[]): Promise<EntryPlace[]>;
  /** The newest entries of a stream, before a sequence if one is given. */
  newest(reader: Reader, streamId: string, page: { limit: number; before?: number | undefined }): Promise<WireEntry[]>;
}

export function openAuditLog(deps: AppendDeps): AuditLog {
  const appendAllIn: AuditLog['appendAllIn'] = async (transaction, entries) => {
    if (entries.length === 0) return [];
    const checked = entries.map(({ streamId: stream_id, ...entry }) => ({
      ...entry,
      stream_id,
      metadataText: canonicalize(entry.metadata),
    }));
    const [outcome] = await appendAll(transaction, deps, [{ entries: checked }]);
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
