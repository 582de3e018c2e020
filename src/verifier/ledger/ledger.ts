import { z } from 'zod';
import { utf8Bytes } from '../../core/bytes.ts';
import { StreamingSha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { RowMap } from '../../core/rows/map.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { operatorSchema, periodSchema, seenHeadSchema, spanEntriesSchema, spanSchema } from '../claims/schemas.ts';
import { type LongFormat, runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { coverageSchema } from '../records/coverage.ts';
import { isLedgerKey, LEDGER_PREFIX, ledgerKey } from '../records/keys.ts';
import { readLongRecord } from '../records/long-record.ts';
import type { Abandonment, Acceptance, RunRecord } from '../records/record.ts';
import { recordPieces } from '../records/record-bytes.ts';
import { keySchema } from '../records/stored-object.ts';
import { type Signature, type Signed, signatureSchema, toSigned } from '../signature/envelope.ts';

const linkFields = {
  format: z.literal(FORMATS.ledgerEntry),
  /** Number of the entry, from 1, without gaps. */
  number: z.int().min(1),
  /** SHA-256 of the entry before, including its signature; 64 zeros in the first. */
  previous_sha256: sha256Schema,
};
const stateFields = {
  created_at: timeSchema,
  /** Address of the service whose evidence the archive holds; null before the first run. */
  audit_url: z.string().nullable(),
  /** Last good head of every stream that was ever exported. */
  heads: streamMapOf(seenHeadSchema),
  /** Signature over the entry without signatures; absent without a signing key. */
  signature: signatureSchema.optional(),
};

/**
 * `ledger/<8 digits>.json`: one finalized run, acceptance, abandoned run, or hand-over to a new signing key, chained to
 * the entry before. Members are in the order of the schema, so that an entry that was read gives its own bytes again.
 */
export const ledgerEntrySchema = z.union([
  z.strictObject({
    ...linkFields,
    run_id: runIdSchema,
    /** SHA-256 of the run's run.json. */
    run_sha256: sha256Schema,
    /** Period for which its packages were requested. */
    package_period: periodSchema,
    coverage: coverageSchema,
    /** Runs of the same name that this one replaces, oldest first. */
    supersedes: z.array(runIdSchema),
    /** Entries of each stream, null for none. Leaves out streams with which later runs must not be compared. */
    spans: streamMapOf(spanEntriesSchema.nullable()),
    ...stateFields,
  }),
  z.strictObject({
    ...linkFields,
    acceptance_key: keySchema,
    /** SHA-256 of the acceptance's record. */
    acceptance_sha256: sha256Schema,
    stream_id: z.string(),
    /** Start of the stream's past from here on; null for a vanished stream. */
    seen: spanSchema.nullable(),
    ...stateFields,
  }),
  z
    .strictObject({
      ...linkFields,
      /** Id of the key that signs every later entry; the key that signs this entry signs no later one. */
      hands_over_to: sha256Schema,
      ...stateFields,
      /** Signature of the new key over the same content: the holder of either key can follow. */
      countersignature: signatureSchema.optional(),
    })
    .refine(
      ({ hands_over_to: successor, signature, countersignature }) =>
        signature !== undefined && signature.keyid !== successor && countersignature?.keyid === successor,
      { error: 'is not signed by one key and countersigned by the key that it names' },
    ),
  z.strictObject({
    ...linkFields,
    /** Run that was given up; the ledger does not record it. */
    abandons: runIdSchema,
    reason: z.string(),
    abandoned_by: operatorSchema,
    ...stateFields,
  }),
]);
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

/** Subject of an entry: the record as read, with its key. */
export type Subject =
  | { kind: 'run'; record: RunRecord; sha256: string }
  | { kind: 'acceptance'; record: Acceptance; key: string; sha256: string }
  | { kind: 'hand-over'; to: string; at: string }
  | { kind: 'abandonment'; abandonment: Abandonment };

export interface StoredLedgerEntry {
  key: string;
  entry: LedgerEntry;
  sha256: string;
}

const PAYLOAD_TYPE = 'application/vnd.evidence-exporter.ledger-entry-sha256';
export const NO_PREDECESSOR = '0'.repeat(64);
export const LEDGER_ENTRY: LongFormat<LedgerEntry> = {
  schema: ledgerEntrySchema,
  maxBytes: 2 ** 30,
  long: [
    { path: ['spans'], kind: 'map', schema: spanEntriesSchema.nullable() },
    { path: ['heads'], kind: 'map', schema: seenHeadSchema },
  ],
};

/** Returns the lower-case hex SHA-256 of an entry, with or without its signatures, as it would be stored. */
export function entryDigest(entry: object): string {
  const digest = new StreamingSha256();
  for (const piece of recordPieces(entry)) digest.update(utf8Bytes(piece));
  return digest.finish().sha256;
}

/**
 * Returns the part of an entry that its signatures cover, in DSSE encoding: the digest of the entry without signatures.
 * The entry itself may have a hundred megabytes, and Ed25519 signs a message as a whole.
 */
export function signedPart(entry: LedgerEntry): Signed {
  const { signature: _signature, ...content } = entry;
  if (!('countersignature' in content)) return signedDigest(content);
  const { countersignature: _countersignature, ...rest } = content;
  return signedDigest(rest);
}

function signedDigest(content: object): Signed {
  const sha256 = entryDigest(content);
  return toSigned(PAYLOAD_TYPE, sha256.length, [sha256], 'utf8');
}

/** Returns the entry with the signatures of another, which is the same entry unless altered. */
export function withSignaturesOf(entry: LedgerEntry, signed: LedgerEntry): LedgerEntry {
  const own = signed.signature === undefined ? entry : { ...entry, signature: signed.signature };
  const countersignature = countersignatureOf(signed);
  return 'hands_over_to' in own && countersignature !== undefined ? { ...own, countersignature } : own;
}

/** Returns the signature of the key that an entry hands over to; undefined for other entries. */
export function countersignatureOf(entry: LedgerEntry): Signature | undefined {
  return 'hands_over_to' in entry ? entry.countersignature : undefined;
}

/** Returns the run that an entry records; null for other entries. */
export function runOf(entry: LedgerEntry): { id: string; sha256: string } | null {
  return 'run_id' in entry ? { id: entry.run_id, sha256: entry.run_sha256 } : null;
}

/** @throws EvidenceError `unreadable` if it is not a ledger entry. */
export async function readEntry(archive: ReadableArchive, key: string): Promise<StoredLedgerEntry> {
  const { record: entry, sha256 } = await readLongRecord(LEDGER_ENTRY, await archive.read(key), key);
  return { key, entry, sha256 };
}

/** Reads the newest entry; returns null if nothing was ever finalized. */
export async function readNewestEntry(archive: ReadableArchive): Promise<StoredLedgerEntry | null> {
  let newest: string | null = null;
  for await (const { key } of archive.list(LEDGER_PREFIX)) if (isLedgerKey(key)) newest = key;
  return newest === null ? null : readEntry(archive, newest);
}

/**
 * Finds the entry that records a run, from the newest back; returns null if the run is not recorded.
 * @param newest newest entry, if read already.
 */
export async function findEntry(
  archive: ReadableArchive,
  runId: string,
  newest?: StoredLedgerEntry | null,
): Promise<StoredLedgerEntry | null> {
  let stored = newest === undefined ? await readNewestEntry(archive) : newest;
  while (stored !== null && runOf(stored.entry)?.id !== runId) {
    const { key, entry } = stored;
    // An altered entry must not lead the search in a circle.
    if (key !== ledgerKey(entry.number))
      throw new EvidenceError('unreadable', `${key} says that it is entry ${entry.number} of the ledger`);
    stored = entry.number === 1 ? null : await readEntry(archive, ledgerKey(entry.number - 1));
  }
  return stored;
}

/** Map by stream id. Parsed as pairs, because `z.record` drops the member `__proto__`, and a stream may have any id. */
export function streamMapOf<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : null),
    z
      .array(z.tuple([z.string(), schema]))
      .transform((pairs) => RowMap.of<z.output<Schema>>(pairs as [string, z.output<Schema>][])),
  );
}
