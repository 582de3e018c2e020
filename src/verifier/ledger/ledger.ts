import { z } from 'zod';
import { sha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { Archive } from '../archive/archive.ts';
import { spanOf } from '../claims/span.ts';
import { periodSchema, type SpanEntries, seenHeadSchema, spanEntriesSchema } from '../claims/span-schema.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { coverageOf, coverageSchema } from '../records/coverage.ts';
import { isLedgerKey, LEDGER_PREFIX, ledgerKey } from '../records/keys.ts';
import type { Acceptance, LedgerHead, RunRecord } from '../records/record.ts';
import { readRecord, toRecordBytes } from '../records/record-bytes.ts';
import { isSignedBy, type Signature, type Signed, signatureSchema } from '../signature/envelope.ts';
import type { PublicKey, SigningKey } from '../signature/key.ts';
import { verifyCommand } from './verify-command.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** By stream id. As pairs, because `z.record` drops the member `__proto__`, and a stream may have any id. */
function byStream<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : null),
    z
      .array(z.tuple([z.string(), schema]))
      .transform((pairs) => Object.fromEntries(pairs) as Record<string, z.output<Schema>>),
  );
}

const linkFields = {
  format: z.literal(FORMATS.ledgerEntry),
  /** Starts at 1, without gaps. */
  number: z.int().min(1),
  /** SHA-256 of the entry before, its signature included; 64 zeros in the first. */
  previous_sha256: digest,
};
const stateFields = {
  created_at: z.string(),
  /** Address of the service whose evidence the archive holds; null before the first run. */
  audit_url: z.string().nullable(),
  /** The last good head of every stream that was ever exported. */
  heads: byStream(seenHeadSchema),
  /** Over the entry without it; absent where no signing key was given. */
  signature: signatureSchema.optional(),
};

/**
 * `ledger/<8 digits>.json`: one finalized run, or one acceptance, chained to the entry before. The order is the one in
 * which members are written: an entry that was read gives its own bytes again.
 */
export const ledgerEntrySchema = z.union([
  z.strictObject({
    ...linkFields,
    run_id: z.string(),
    /** SHA-256 of the run's run.json. */
    run_sha256: digest,
    /** What its packages were asked to hold. */
    package_period: periodSchema,
    coverage: coverageSchema,
    /** What it had of each stream, null for no entries; not in here is what later runs must not be held against. */
    spans: byStream(spanEntriesSchema.nullable()),
    ...stateFields,
  }),
  z.strictObject({
    ...linkFields,
    acceptance_key: z.string(),
    /** SHA-256 of the acceptance's record. */
    acceptance_sha256: digest,
    ...stateFields,
  }),
]);
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

/** What an entry records: the record as it was read, and where it lies. */
export type Subject =
  | { kind: 'run'; record: RunRecord; sha256: string }
  | { kind: 'acceptance'; record: Acceptance; key: string; sha256: string };

export interface StoredLedgerEntry {
  key: string;
  entry: LedgerEntry;
  sha256: string;
}

const PAYLOAD_TYPE = 'application/vnd.evidence-exporter.ledger-entry+json';
export const NO_PREDECESSOR = '0'.repeat(64);
export const LEDGER_ENTRY: RecordFormat<LedgerEntry> = { schema: ledgerEntrySchema, maxBytes: 2 ** 30 };

/**
 * The entry that records something behind `previous`, its signature apart. It follows from the two alone, byte for
 * byte, so whoever has them can tell whether an entry in the archive was altered.
 */
export function deriveEntry(subject: Subject, previous: StoredLedgerEntry | null): LedgerEntry {
  const heads = previous?.entry.heads ?? {};
  const common = {
    format: FORMATS.ledgerEntry,
    number: (previous?.entry.number ?? 0) + 1,
    previous_sha256: previous?.sha256 ?? NO_PREDECESSOR,
  };
  if (subject.kind === 'run')
    return {
      ...common,
      run_id: subject.record.run_id,
      run_sha256: subject.sha256,
      package_period: subject.record.package_period,
      coverage: coverageOf(subject.record),
      spans: spansOf(subject.record),
      created_at: subject.record.finished_at,
      audit_url: serviceAfter(subject.record, previous),
      heads: advance(heads, subject.record),
    };
  const { stream_id: accepted, accepted_at } = subject.record;
  return {
    ...common,
    acceptance_key: subject.key,
    acceptance_sha256: subject.sha256,
    created_at: accepted_at,
    audit_url: previous?.entry.audit_url ?? null,
    heads: Object.fromEntries(Object.entries(heads).filter(([streamId]) => streamId !== accepted)),
  };
}

/** What the signature of an entry is over, in the encoding of DSSE: the entry without it, as it would be stored. */
export function signedPart({ signature: _signature, ...content }: LedgerEntry): Signed {
  return { payloadType: PAYLOAD_TYPE, payload: toRecordBytes(content) };
}

export function withSignature(entry: LedgerEntry, signature: Signature | undefined): LedgerEntry {
  return signature === undefined ? entry : { ...entry, signature };
}

/** The run that an entry records; null for an acceptance. */
export function runOf(entry: LedgerEntry): { id: string; sha256: string } | null {
  return 'run_id' in entry ? { id: entry.run_id, sha256: entry.run_sha256 } : null;
}

/** The archive's service stays the one of its first run, unless a run says that it moved. */
function serviceAfter({ source }: RunRecord, previous: StoredLedgerEntry | null): string {
  return source.moved_from === null ? (previous?.entry.audit_url ?? source.audit_url) : source.audit_url;
}

function spansOf({ streams }: RunRecord): Record<string, SpanEntries | null> {
  const spans = streams.flatMap((stream) => {
    const span = spanOf(stream);
    return span === undefined ? [] : [[stream.stream_id, span] as const];
  });
  return Object.fromEntries(spans.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The heads after a run: those move forward that are the end of a span; for all others the last good head stays. */
function advance(heads: Record<string, LedgerHead>, run: RunRecord): Record<string, LedgerHead> {
  const after = new Map(Object.entries(heads));
  for (const [streamId, span] of Object.entries(spansOf(run))) {
    if (span === null || span.head.sequence <= (after.get(streamId)?.sequence ?? -1)) continue;
    after.set(streamId, { ...span.head, run_id: run.run_id });
  }
  return Object.fromEntries([...after].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @throws EvidenceError `unreadable` when it is not a ledger entry. */
export async function readEntry(archive: Archive, key: string): Promise<StoredLedgerEntry> {
  const bytes = await archive.readBytes(key, LEDGER_ENTRY.maxBytes);
  return { key, entry: readRecord(LEDGER_ENTRY, bytes, key), sha256: sha256(bytes) };
}

/** The newest entry, or null when nothing was ever finalized. */
export async function readNewestEntry(archive: Archive): Promise<StoredLedgerEntry | null> {
  let newest: string | null = null;
  for await (const { key } of archive.list(LEDGER_PREFIX)) if (isLedgerKey(key)) newest = key;
  return newest === null ? null : readEntry(archive, newest);
}

/**
 * The entry that records a run, looked for from the newest on; null when the run is not recorded.
 * @param newest where it was read already.
 */
export async function findEntry(
  archive: Archive,
  runId: string,
  newest?: StoredLedgerEntry | null,
): Promise<StoredLedgerEntry | null> {
  let stored = newest === undefined ? await readNewestEntry(archive) : newest;
  while (stored !== null && runOf(stored.entry)?.id !== runId) {
    const { key, entry } = stored;
    // Whoever altered it must not lead the search in a circle.
    if (key !== ledgerKey(entry.number))
      throw new EvidenceError('unreadable', `${key} says that it is entry ${entry.number} of the ledger`);
    stored = entry.number === 1 ? null : await readEntry(archive, ledgerKey(entry.number - 1));
  }
  return stored;
}

/** Whose ledger entries are believed, and what the next one is signed with. */
export interface LedgerTrust {
  /** Null for entries that are not signed. */
  signingKey: SigningKey | null;
  /** Of earlier signing keys. */
  publicKeys: readonly PublicKey[];
  /** Somebody says that nothing was signed until now, and vouches for what is there. */
  beginSigning?: boolean;
}

/** Where a ledger ends that was found to hold. */
export interface LedgerEnd {
  newest: StoredLedgerEntry | null;
  /** SHA-256 of each run's record, by run id; the oldest first. */
  runs: ReadonlyMap<string, string>;
}

/**
 * Refuses to go on without a signature behind an entry that has one, since a gap in the signatures is what removing them
 * leaves too; behind an entry whose signature is not one by a key that is given; and with a first signature, which
 * vouches for all entries before it, behind entries that nobody vouches for.
 *
 * @throws EvidenceError `config`; `unreadable` for an entry that is not the one that was signed.
 */
export function requireTrusted(archive: Archive, previous: StoredLedgerEntry | null, trust: LedgerTrust): void {
  const { signingKey, publicKeys } = trust;
  if (previous === null) return;
  const { signature } = previous.entry;
  if (signature === undefined) {
    if (signingKey === null || trust.beginSigning === true) return;
    throw new EvidenceError(
      'config',
      `a signing key is given, and ${previous.key} is not signed: whoever can write into the archive could have put it there, and all before it`,
      {
        nextStep:
          'Nothing was signed. If runs were not signed until now, verify the archive first, then say so once with: --begin-signing.',
      },
    );
  }
  if (signingKey === null)
    throw new EvidenceError('config', `${previous.key} is signed, and no signing key is given to go on with`, {
      nextStep: 'Name the key in sign.key_file; if it is lost, make a new one with: evidence keygen --out signing.pem.',
    });
  const signer = [signingKey, ...publicKeys].find(({ id }) => id === signature.keyid);
  if (signer === undefined)
    throw new EvidenceError('config', `${previous.key} is signed with the key ${signature.keyid}, which is not given`, {
      nextStep:
        'If that was the signing key before, name its public key in verify.public_keys; else verify the archive.',
    });
  if (isSignedBy(signedPart(previous.entry), signature, signer)) return;
  throw new EvidenceError('unreadable', `${previous.key} is not the entry that the key ${signer.id} signed`, {
    nextStep: `Nothing was added to it. Find out what else is wrong, with: ${verifyCommand(archive)}.`,
  });
}
