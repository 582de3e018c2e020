import { z } from 'zod';
import { sha256 } from '../../core/digest.ts';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { operatorSchema } from '../claims/schemas.ts';
import { type RecordFormat, runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { holdActionOf, holdLogPrefix, holdRecordKey, holdResultKey } from './keys.ts';
import { readRecord } from './record-bytes.ts';
import { keySchema } from './stored-object.ts';

const lockSchema = z.strictObject({ mode: z.enum(['governance', 'compliance']), retain_until: timeSchema });

/** Protection of an object as the store shows it. */
const protectionSchema = z.strictObject({ lock: lockSchema.nullable(), legal_hold: z.boolean() });
export type Protection = z.infer<typeof protectionSchema>;

/**
 * `runs/<run-id>/hold-log/<time>-<action>.json`, written before anything changes, so that no change goes unrecorded.
 */
export const holdRecordSchema = z.strictObject({
  format: z.literal(FORMATS.hold),
  run_id: runIdSchema,
  action: z.enum(['hold', 'release', 'extend']),
  reason: z.string(),
  ordered_by: operatorSchema,
  ordered_at: timeSchema,
  /** Time before which no object may be deleted; for `extend` only. */
  retain_until: timeSchema.nullable(),
  /** Every object of the run and the ledger entry that records it, each with its protection before the change. */
  objects: z.array(z.strictObject({ key: keySchema, version_id: z.string().nullable(), ...protectionSchema.shape })),
});
export type HoldRecord = z.infer<typeof holdRecordSchema>;

/** `….done.json` next to the record: each object as the store showed it afterward. */
export const holdResultSchema = z.strictObject({
  format: z.literal(FORMATS.holdResult),
  /** SHA-256 of the record that this result completes. */
  record_sha256: sha256Schema,
  /** `refused`: the store allowed no change. */
  outcome: z.enum(['completed', 'refused']),
  ended_at: timeSchema,
  objects: z.array(z.strictObject({ key: keySchema, ...protectionSchema.shape })),
});
export type HoldResult = z.infer<typeof holdResultSchema>;

export interface StoredHoldRecord {
  key: string;
  record: HoldRecord;
  sha256: string;
  /** Null if the change was interrupted or is in progress. */
  result: HoldResult | null;
}

const MAX_HOLD_RECORD_BYTES = 256 * 2 ** 20;
export const HOLD_RECORD: RecordFormat<HoldRecord> = { schema: holdRecordSchema, maxBytes: MAX_HOLD_RECORD_BYTES };
export const HOLD_RESULT: RecordFormat<HoldResult> = { schema: holdResultSchema, maxBytes: MAX_HOLD_RECORD_BYTES };
const ACTIONS: readonly (string | null)[] = ['hold', 'release', 'extend'];

/**
 * Reads the records of all changes to a run's protection, oldest first.
 * @throws EvidenceError `unreadable` if a record is malformed; `archive`.
 */
export async function readHoldLog(archive: ReadableArchive, runId: string): Promise<StoredHoldRecord[]> {
  const keys = new Set<string>();
  for await (const { key } of archive.list(holdLogPrefix(runId))) keys.add(key);
  const stored: StoredHoldRecord[] = [];
  for (const key of keys) if (ACTIONS.includes(holdActionOf(key))) stored.push(await readStored(archive, key, keys));
  return stored.sort((a, b) => (a.record.ordered_at < b.record.ordered_at ? -1 : 1));
}

/** Returns the holds that the next release removes: those completed since the last completed release. */
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

/**
 * `runs/<run-id>/hold-log/<time>-restamp.json`, written before its token is stored, so that no token goes unrecorded.
 */
export const restampingSchema = z.strictObject({
  format: z.literal(FORMATS.restamp),
  run_id: runIdSchema,
  ordered_by: operatorSchema,
  ordered_at: timeSchema,
  /** Authority that was asked for the token. */
  timestamp_authority: z.string(),
  token: z.strictObject({ key: keySchema, sha256: sha256Schema }),
});
export type Restamping = z.infer<typeof restampingSchema>;

export interface StoredRestamping {
  key: string;
  record: Restamping;
}

export const RESTAMPING: RecordFormat<Restamping> = { schema: restampingSchema, maxBytes: 64 * 1024 };
const ACTION = 'restamp';

/** Returns the key of the record of a new time-stamp. */
export function restampingKey({ run_id, ordered_at }: Pick<Restamping, 'run_id' | 'ordered_at'>): string {
  return holdRecordKey(run_id, ordered_at, ACTION);
}

/**
 * Reads the records of a run's new time-stamps, oldest first.
 * @throws EvidenceError `unreadable` if a record is malformed; `archive`.
 */
export async function readRestampings(archive: ReadableArchive, runId: string): Promise<StoredRestamping[]> {
  const found: StoredRestamping[] = [];
  for await (const { key } of archive.list(holdLogPrefix(runId)))
    if (holdActionOf(key) === ACTION)
      found.push({ key, record: readRecord(RESTAMPING, await archive.readBytes(key, RESTAMPING.maxBytes), key) });
  return found;
}

const sharedObjectSchema = z.strictObject({
  key: keySchema,
  bytes: z.int().min(0),
  sha256: sha256Schema,
  version_id: z.string().nullable(),
});
export type SharedObject = z.infer<typeof sharedObjectSchema>;

/**
 * `runs/<run-id>/hold-log/<time>-share.json`, written before anything is handed out, so that nothing goes unrecorded.
 * Links are secrets and are never recorded.
 */
export const shareSchema = z.strictObject({
  format: z.literal(FORMATS.share),
  run_id: runIdSchema,
  /** Recipient; null if not stated. */
  shared_with: z.string().nullable(),
  shared_by: operatorSchema,
  shared_at: timeSchema,
  form: z.enum(['links', 'copies']),
  /** End of the links; null for copies, and if the end of their credentials is not known. */
  expires_at: timeSchema.nullable(),
  objects: z.array(sharedObjectSchema),
});
export type ShareRecord = z.infer<typeof shareSchema>;

export interface StoredShare {
  key: string;
  record: ShareRecord;
}

/** Copy of the record in the recipient's folder, which distinguishes the folder from a whole archive. */
export const SHARE_MARK = 'share.json';

export const SHARE: RecordFormat<ShareRecord> = { schema: shareSchema, maxBytes: 256 * 2 ** 20 };

/** Returns the key of the record of a share. */
export function shareKey({ run_id, shared_at }: ShareRecord): string {
  return holdRecordKey(run_id, shared_at, 'share');
}

/**
 * Reads the records of all shares of a run, oldest first.
 * @throws EvidenceError `unreadable` if a record is malformed; `archive`.
 */
export async function readShares(archive: ReadableArchive, runId: string): Promise<StoredShare[]> {
  const shares: StoredShare[] = [];
  for await (const { key } of archive.list(holdLogPrefix(runId)))
    if (holdActionOf(key) === 'share') shares.push({ key, record: await readShare(archive, key) });
  return shares.sort((a, b) => (a.record.shared_at < b.record.shared_at ? -1 : 1));
}

/** @param key of the record of a share, or of a copy of one. @throws EvidenceError like `readShares`. */
export async function readShare(archive: ReadableArchive, key: string): Promise<ShareRecord> {
  return readRecord(SHARE, await archive.readBytes(key, SHARE.maxBytes), key);
}
