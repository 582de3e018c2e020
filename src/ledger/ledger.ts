import { z } from 'zod';
import type { Archive } from '../archive/archive.ts';
import { sha256 } from '../encoding/digest.ts';
import { EvidenceError, isEvidenceError } from '../errors.ts';
import { ledgerKey } from './keys.ts';
import { type RunRecord, readRecord, toRecordBytes } from './record.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const headSchema = z.strictObject({
  sequence: z.int().min(1),
  hash: z.string(),
  /** The run that saw this head. */
  run_id: z.string(),
});
export type LedgerHead = z.infer<typeof headSchema>;

/** By stream id. As pairs, because `z.record` drops the member `__proto__`, and a stream may have any id. */
const headsSchema = z.preprocess(
  (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : value),
  z.array(z.tuple([z.string(), headSchema])).transform((heads) => Object.fromEntries(heads)),
);

/** `ledger/<8 digits>.json`: one sealed run, chained to the one before. */
export const ledgerEntrySchema = z.strictObject({
  format: z.literal('evidence-ledger/1'),
  /** Starts at 1, without gaps. */
  number: z.int().min(1),
  run_id: z.string(),
  /** SHA-256 of the run's run.json. */
  run_sha256: digest,
  /** SHA-256 of the entry before; 64 zeros in the first. */
  previous_sha256: digest,
  created_at: z.string(),
  /** The last good head of every stream that was ever exported. */
  heads: headsSchema,
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

export interface StoredLedgerEntry {
  key: string;
  entry: LedgerEntry;
  sha256: string;
}

const NO_PREDECESSOR = '0'.repeat(64);
const MAX_ENTRY_BYTES = 2 ** 30;
const MAX_RACES = 100;

/**
 * The entry that records a run behind `previous`. It follows from the two alone, byte for byte, so whoever has them can
 * tell whether an entry in the archive was altered.
 */
export function deriveEntry(run: RunRecord, runSha256: string, previous: StoredLedgerEntry | null): LedgerEntry {
  return {
    format: 'evidence-ledger/1',
    number: (previous?.entry.number ?? 0) + 1,
    run_id: run.run_id,
    run_sha256: runSha256,
    previous_sha256: previous?.sha256 ?? NO_PREDECESSOR,
    created_at: run.finished_at,
    heads: advance(previous?.entry.heads ?? {}, run),
  };
}

/**
 * The heads after a run: those move forward whose order is proved and whose continuity is not refuted; for all others
 * the last good head stays.
 */
function advance(heads: Record<string, LedgerHead>, run: RunRecord): Record<string, LedgerHead> {
  const after = new Map(Object.entries(heads));
  for (const stream of run.streams) {
    const { stream_id, claims, last_sequence, head_hash } = stream;
    if (claims.order.state !== 'proved' || claims.continuity.state === 'refuted') continue;
    if (last_sequence === null || head_hash === null) continue;
    if (last_sequence > (after.get(stream_id)?.sequence ?? 0))
      after.set(stream_id, { sequence: last_sequence, hash: head_hash, run_id: run.run_id });
  }
  return Object.fromEntries([...after].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @throws EvidenceError `unreadable` when it is not a ledger entry. */
export async function readEntry(archive: Archive, key: string): Promise<StoredLedgerEntry> {
  const bytes = await archive.readBytes(key, MAX_ENTRY_BYTES);
  return { key, entry: readRecord(ledgerEntrySchema, bytes, key), sha256: sha256(bytes) };
}

/** The newest entry, or null when nothing was ever sealed. */
export async function readNewestEntry(archive: Archive): Promise<StoredLedgerEntry | null> {
  let newest: string | null = null;
  for await (const { key } of archive.list('ledger/')) if (/^ledger\/\d{8}\.json$/.test(key)) newest = key;
  return newest === null ? null : readEntry(archive, newest);
}

/** The entry that records a run, looked for from the newest on; null when the run is not recorded. */
export async function findEntry(archive: Archive, runId: string): Promise<StoredLedgerEntry | null> {
  let stored = await readNewestEntry(archive);
  while (stored !== null && stored.entry.run_id !== runId) {
    const { key, entry } = stored;
    // Whoever altered it must not lead the search in a circle.
    if (key !== ledgerKey(entry.number))
      throw new EvidenceError('unreadable', `${key} says that it is entry ${entry.number} of the ledger`);
    stored = entry.number === 1 ? null : await readEntry(archive, ledgerKey(entry.number - 1));
  }
  return stored;
}

/**
 * Records a sealed run at the end of the ledger. Of two runs that race for a number one wins, and the other takes the
 * next.
 */
export async function appendEntry(archive: Archive, run: RunRecord, runSha256: string): Promise<StoredLedgerEntry> {
  for (let race = 0; race < MAX_RACES; race++) {
    const entry = deriveEntry(run, runSha256, await readNewestEntry(archive));
    const bytes = toRecordBytes(entry);
    const key = ledgerKey(entry.number);
    try {
      await archive.put(key, { bytes }, { sha256: sha256(bytes), bytes: bytes.length });
      return { key, entry, sha256: sha256(bytes) };
    } catch (error) {
      if (!isEvidenceError(error, 'conflict')) throw error;
    }
  }
  throw new EvidenceError('archive', `the ledger moved on ${MAX_RACES} times while run ${run.run_id} was recorded`, {
    nextStep: 'Run the same command again: the run is sealed, and only its ledger entry is missing.',
  });
}
