import { z } from 'zod';
import { sha256 } from '../../core/digest.ts';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import type { RecordFormat } from '../model/schemas.ts';
import { ARCHIVE_KEY } from '../records/keys.ts';
import { readRecord, toReadableBytes } from '../records/record-bytes.ts';

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

/** Reads `archive.json`. */
export async function readStatedService(archive: ReadableArchive): Promise<{ auditUrl: string; sha256: string }> {
  const bytes = await archive.readBytes(ARCHIVE_KEY, ARCHIVE.maxBytes);
  return { auditUrl: readRecord(ARCHIVE, bytes, ARCHIVE_KEY).audit_url, sha256: sha256(bytes) };
}
