import { z } from 'zod';
import { sha256 } from '../../core/digest.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { Archive } from '../archive/archive.ts';
import { putBytes } from '../archive/put.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { ARCHIVE_KEY } from '../records/keys.ts';
import { readRecord, toReadableBytes } from '../records/record-bytes.ts';
import type { StoredLedgerEntry } from './ledger.ts';
import { verifyCommand } from './verify-command.ts';

/**
 * `archive.json`: the one service whose evidence an archive holds, written with the first run and never changed. The
 * ledger has it too, from its first entry on, and the service that it moved to.
 */
export const archiveSchema = z.strictObject({ format: z.literal(FORMATS.archive), audit_url: z.string() });

const ARCHIVE: RecordFormat<z.infer<typeof archiveSchema>> = { schema: archiveSchema, maxBytes: 2 ** 16 };

/** The bytes of `archive.json`: they follow from the address alone. */
export function archiveBytes(auditUrl: string): Uint8Array {
  return toReadableBytes(ARCHIVE, { format: FORMATS.archive, audit_url: auditUrl }, ARCHIVE_KEY);
}

/**
 * The service whose evidence an archive holds now; null for an archive that holds none yet.
 * @param newest entry of its ledger.
 * @throws EvidenceError `unreadable` where the archive does not say it any more.
 */
export async function readArchiveService(archive: Archive, newest: StoredLedgerEntry | null): Promise<string | null> {
  const isThere = (await archive.stat(ARCHIVE_KEY)) !== null;
  // Before its first run, an entry that gives up a begun one says nothing of the service.
  if (!isThere && (newest?.entry.audit_url ?? null) === null) return null;
  if (!isThere)
    throw new EvidenceError('unreadable', `${ARCHIVE_KEY} is missing, which every archive with a run has`, {
      nextStep: `Nothing was exported. Find out what else is wrong, with: ${verifyCommand(archive)}.`,
    });
  const { auditUrl } = await readStatedService(archive);
  return newest?.entry.audit_url ?? auditUrl;
}

/** Reads `archive.json`. */
export async function readStatedService(archive: Archive): Promise<{ auditUrl: string; sha256: string }> {
  const bytes = await archive.readBytes(ARCHIVE_KEY, ARCHIVE.maxBytes);
  return { auditUrl: readRecord(ARCHIVE, bytes, ARCHIVE_KEY).audit_url, sha256: sha256(bytes) };
}

/** The question that an export asks of an archive. */
export interface ServiceQuestion {
  auditUrl: string;
  /** Somebody says that the service of this archive has another address now. */
  isMoved: boolean;
}

/**
 * Refuses the evidence of another service than the archive's.
 * @param held see `readService`.
 * @param newest entry of its ledger.
 * @returns the address that the service moved from; null where it did not.
 * @throws EvidenceError `config`; `usage` where nothing moved.
 */
export function requireService(
  held: string | null,
  newest: StoredLedgerEntry | null,
  { auditUrl, isMoved }: ServiceQuestion,
): string | null {
  if (isMoved && (held === null || held === auditUrl))
    throw new EvidenceError(
      'usage',
      `--service-moved is given, and this archive ${held === null ? 'holds nothing yet' : `is of ${held} already`}`,
      { nextStep: 'It is to be said once: run the same command without it.' },
    );
  if (held === null || held === auditUrl) return null;
  if (isMoved && newest !== null) return held;
  throw otherService(held, auditUrl, newest !== null);
}

function otherService(held: string, asked: string, canMove: boolean): EvidenceError {
  const moved = canMove ? `; if that service has this address now, say so once with --service-moved` : '';
  return new EvidenceError(
    'config',
    `this archive is of ${held}, and ${asked} is asked for: an archive is of one service`,
    {
      nextStep: `Nothing was written. Name another archive with --archive${moved}.`,
    },
  );
}

/**
 * Writes down whose evidence an archive will hold, before its first run.
 * @param newest entry of its ledger: where there is one, the archive says it already, and where the service moved to.
 * @throws EvidenceError `config` where an export of another service was the first to do so.
 */
export async function keepService(archive: Archive, auditUrl: string, newest: StoredLedgerEntry | null): Promise<void> {
  if ((newest?.entry.audit_url ?? null) !== null) return;
  try {
    await putBytes(archive, ARCHIVE_KEY, archiveBytes(auditUrl));
  } catch (error) {
    const held = isEvidenceError(error, 'conflict') ? await readArchiveService(archive, null) : null;
    throw held === null ? error : otherService(held, auditUrl, false);
  }
}
