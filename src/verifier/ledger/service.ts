import { z } from 'zod';
import { sha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import type { RecordFormat } from '../model/schemas.ts';
import { ARCHIVE_KEY } from '../records/keys.ts';
import { readRecord, toReadableBytes } from '../records/record-bytes.ts';
import type { StoredLedgerEntry } from './ledger.ts';
import { verifyCommand } from './verify-command.ts';

/**
 * `archive.json`: the single service whose evidence an archive holds, written with the first run and never changed. The
 * ledger states it, too, from its first entry on, and the address to which it moved.
 */
export const archiveSchema = z.strictObject({ format: z.literal(FORMATS.archive), audit_url: z.string() });

const ARCHIVE: RecordFormat<z.infer<typeof archiveSchema>> = { schema: archiveSchema, maxBytes: 2 ** 16 };

/** Returns the bytes of `archive.json`, which follow from the address alone. */
export function archiveBytes(auditUrl: string): Uint8Array {
  return toReadableBytes(ARCHIVE, { format: FORMATS.archive, audit_url: auditUrl }, ARCHIVE_KEY);
}

/**
 * Returns the service whose evidence an archive holds now; null for an archive without evidence.
 * @param newest newest entry of its ledger.
 * @throws EvidenceError `unreadable` if the archive no longer states it.
 */
export async function readArchiveService(
  archive: ReadableArchive,
  newest: StoredLedgerEntry | null,
): Promise<string | null> {
  const isThere = (await archive.stat(ARCHIVE_KEY)) !== null;
  // Before the first run, an entry that gives up a run states no service.
  if (!isThere && (newest?.entry.audit_url ?? null) === null) return null;
  if (!isThere)
    throw new EvidenceError('unreadable', `${ARCHIVE_KEY} is missing, which every archive with a run has`, {
      nextStep: `Nothing was exported. Find out what else is wrong, with: ${verifyCommand(archive)}.`,
    });
  const { auditUrl } = await readStatedService(archive);
  return newest?.entry.audit_url ?? auditUrl;
}

/** Reads `archive.json`. */
export async function readStatedService(archive: ReadableArchive): Promise<{ auditUrl: string; sha256: string }> {
  const bytes = await archive.readBytes(ARCHIVE_KEY, ARCHIVE.maxBytes);
  return { auditUrl: readRecord(ARCHIVE, bytes, ARCHIVE_KEY).audit_url, sha256: sha256(bytes) };
}
