import { z } from 'zod';
import { sha256 } from '../../core/digest.ts';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { operatorSchema } from '../claims/stated-schema.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { holdActionOf, holdLogPrefix, holdResultKey } from './keys.ts';
import { readRecord } from './record-bytes.ts';
import { keySchema } from './stored-object.ts';

const lockSchema = z.strictObject({ mode: z.enum(['governance', 'compliance']), retain_until: timeSchema });

/** The protection of an object, as the store shows it. */
const protectionSchema = z.strictObject({ lock: lockSchema.nullable(), legal_hold: z.boolean() });
export type Protection = z.infer<typeof protectionSchema>;

/** `runs/<run-id>/hold-log/<time>-<action>.json`: written before anything is changed, so that no change goes unsaid. */
export const holdRecordSchema = z.strictObject({
  format: z.literal(FORMATS.hold),
  run_id: runIdSchema,
  action: z.enum(['hold', 'release', 'extend']),
  reason: z.string(),
  ordered_by: operatorSchema,
  ordered_at: timeSchema,
  /** For `extend`: the time before which no object may be deleted. */
  retain_until: timeSchema.nullable(),
  /** Every object of the run there was, and the ledger entry that records it, each as it was before. */
  objects: z.array(z.strictObject({ key: keySchema, version_id: z.string().nullable(), ...protectionSchema.shape })),
});
export type HoldRecord = z.infer<typeof holdRecordSchema>;

/** `….done.json` beside it: what the store showed of each object afterwards. */
export const holdResultSchema = z.strictObject({
  format: z.literal(FORMATS.holdResult),
  /** SHA-256 of the record that this is the end of. */
  record_sha256: sha256Schema,
  /** `refused`: the store let nothing be changed. */
  outcome: z.enum(['completed', 'refused']),
  ended_at: timeSchema,
  objects: z.array(z.strictObject({ key: keySchema, ...protectionSchema.shape })),
});
export type HoldResult = z.infer<typeof holdResultSchema>;

export interface StoredHoldRecord {
  key: string;
  record: HoldRecord;
  sha256: string;
  /** Null for what was interrupted, or is going on. */
  result: HoldResult | null;
}

const MAX_HOLD_RECORD_BYTES = 256 * 2 ** 20;
export const HOLD_RECORD: RecordFormat<HoldRecord> = { schema: holdRecordSchema, maxBytes: MAX_HOLD_RECORD_BYTES };
export const HOLD_RESULT: RecordFormat<HoldResult> = { schema: holdResultSchema, maxBytes: MAX_HOLD_RECORD_BYTES };
const ACTIONS: readonly (string | null)[] = ['hold', 'release', 'extend'];

/**
 * All that was done about the protection of a run, the oldest first.
 * @throws EvidenceError `unreadable` for a record that is not one; `archive`.
 */
export async function readHoldLog(archive: ReadableArchive, runId: string): Promise<StoredHoldRecord[]> {
  const keys = new Set<string>();
  for await (const { key } of archive.list(holdLogPrefix(runId))) keys.add(key);
  const stored: StoredHoldRecord[] = [];
  for (const key of keys) if (ACTIONS.includes(holdActionOf(key))) stored.push(await readStored(archive, key, keys));
  return stored.sort((a, b) => (a.record.ordered_at < b.record.ordered_at ? -1 : 1));
}

/** The holds that the next release takes away: those that were ordered since the last one that was completed. */
export function standingHolds(log: readonly StoredHoldRecord[]): StoredHoldRecord[] {
  const isDone = ({ result }: StoredHoldRecord) => result?.outcome === 'completed';
  const released = log.findLastIndex((one) => one.record.action === 'release' && isDone(one));
  return log.slice(released + 1).filter((one) => one.record.action === 'hold' && isDone(one));
}

async function readStored(archive: ReadableArchive, key: string, keys: ReadonlySet<string>): Promise<StoredHoldRecord> {
  const bytes = await archive.readBytes(key, MAX_HOLD_RECORD_BYTES);
  const resultKey = holdResultKey(key);
  const result = keys.has(resultKey)
    ? readRecord(HOLD_RESULT, await archive.readBytes(resultKey, MAX_HOLD_RECORD_BYTES), resultKey)
    : null;
  return { key, record: readRecord(HOLD_RECORD, bytes, key), sha256: sha256(bytes), result };
}
